package io.quartermaster.tenancy.people;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.quartermaster.access.GroupPath;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** People in the API. */
final class PersonApi {

    private PersonApi() {}

    /** A person in a list. */
    @Schema(name = "Person", description = "A user of the tenant's realm who is a person.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Person(
            @Schema(description = "Id of the person, which is the subject of the person's tokens.")
            String id,

            @Schema(description = "The name with which the person signs in.")
            String username,

            @Schema(description = "The email address.") @Nullable
            String email,

            @Schema(description = "The first name.") @Nullable
            String firstName,

            @Schema(description = "The last name.") @Nullable
            String lastName,

            @Schema(description = "False: the person cannot sign in, and the person's tokens are refused.")
            boolean enabled,

            @Schema(description = "Whether the person has yet to set a password.")
            boolean invited,

            @Schema(description = "When the person was added to the realm.") @Nullable
            Instant createdAt) {}

    /** A person with roles and groups. */
    @Schema(name = "PersonDetails", description = "A person with roles and groups.")
    record Details(
            Person person,

            @Schema(description = "The roles of the service that the person has, without those of groups.")
            List<String> roles,

            @Schema(description = "The groups of the realm that the person is a member of.")
            List<GroupPath> groups,

            @Schema(description = "Names this state of the person; it is also the ETag.")
            long version) {}

    @Schema(name = "PersonInvitation", description = "A person to add to the tenant's realm.")
    record Invitation(
            @Schema(required = true, minLength = 3, maxLength = PersonChecks.MAX_LENGTH, examples = "jo-example")
            @Nullable
            String username,

            @Schema(required = true, maxLength = PersonChecks.MAX_LENGTH, examples = "jo@example.com") @Nullable
            String email,

            @Schema(description = "Absent: asked for at the first login.", maxLength = PersonChecks.MAX_LENGTH)
            @Nullable
            String firstName,

            @Schema(description = "Absent: asked for at the first login.", maxLength = PersonChecks.MAX_LENGTH)
            @Nullable
            String lastName,

            @Schema(description = "The roles of the person; absent: member.", maxItems = PersonChecks.MAX_ROLES)
            @Nullable
            List<@Nullable String> roles,

            @Schema(description = "The groups of the person; absent: none.", maxItems = PersonChecks.MAX_GROUPS)
            @Nullable
            List<@Nullable GroupPath> groups) {}

    @Schema(name = "PersonPatch", description = "An absent field stays unchanged.")
    record Patch(
            @Schema(
                    description = "All roles of the service that the person has from then on. Other roles of the realm "
                            + "stay.",
                    maxItems = PersonChecks.MAX_ROLES)
            @Nullable
            List<@Nullable String> roles,

            @Schema(
                    description = "All groups that the person is a member of from then on.",
                    maxItems = PersonChecks.MAX_GROUPS)
            @Nullable
            List<@Nullable GroupPath> groups,

            @Schema(
                    description =
                            "False: the person cannot sign in, and the person's tokens are refused within a minute.")
            @Nullable
            Boolean enabled) {}

    /** How a person gets to set a password. */
    @Schema(name = "InvitationWay")
    enum Way {
        /** The realm has sent a mail with a link. */
        MAIL,
        /** The answer has a password for one login. */
        ONE_TIME_PASSWORD
    }

    /** The answer to an invitation. */
    @Schema(name = "InvitedPerson", description = "An invited person, and how the person gets to set a password.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Invited(
            @Schema(description = "Id of the person.") String id,

            @Schema(description = "The name with which the person signs in.")
            String username,

            @Schema(
                    description = "`mail`: the realm has sent a mail with a link; `one-time-password`: see the field "
                            + "temporaryPassword.")
            Way invitedBy,

            @Schema(
                    description =
                            "A password for one login, at which it must be replaced; shown once. Absent after a mail.")
            @Nullable
            String temporaryPassword,

            @Schema(description = "URL at which the person can log in and set a password.")
            URI loginUrl) {

        Invited withoutSecret() {
            return new Invited(id, username, invitedBy, null, loginUrl);
        }

        @Override
        public String toString() {
            return "invitation of " + username;
        }
    }
}
