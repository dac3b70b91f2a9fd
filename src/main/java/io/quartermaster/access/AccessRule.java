package io.quartermaster.access;

import io.quartermaster.platform.EnumNames;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A rule that admits callers to submit to a queue. A queue without rules admits no caller. */
public sealed interface AccessRule {

    /** The kinds of subject, as in the API and the table. */
    @Schema(name = "AccessRuleSubjectKind")
    enum Kind {
        GROUP,
        USER,
        SERVICE_ACCOUNT,
        EVERYONE;

        public String word() {
            return EnumNames.of(this);
        }

        public static Optional<Kind> of(String word) {
            return EnumNames.parse(Kind.class, word);
        }
    }

    boolean admits(Caller caller);

    /** Whether this rule admits every caller that the other admits. */
    default boolean includes(AccessRule other) {
        return equals(other);
    }

    /** Whether this rule admits a user or service account of the tenant by its name alone, whatever its groups. */
    default boolean admitsNamed(String username) {
        return false;
    }

    Kind kind();

    /** The subject as stored: a group path, a username, a client id, or {@code *}. */
    String subject();

    /** Admits the members of the group and of its subgroups, both people and service accounts. */
    record ForGroup(GroupPath group) implements AccessRule {
        @Override
        public boolean admits(Caller caller) {
            return caller.groups().stream().anyMatch(group::contains);
        }

        @Override
        public boolean includes(AccessRule other) {
            return other instanceof ForGroup narrower && group.contains(narrower.group());
        }

        @Override
        public Kind kind() {
            return Kind.GROUP;
        }

        @Override
        public String subject() {
            return group.value();
        }
    }

    record ForUser(String username) implements AccessRule {
        @Override
        public boolean admits(Caller caller) {
            return !caller.isServiceAccount() && caller.username().equals(username);
        }

        @Override
        public boolean admitsNamed(String other) {
            return username.equals(other) && !username.startsWith(Caller.SERVICE_ACCOUNT_PREFIX);
        }

        @Override
        public Kind kind() {
            return Kind.USER;
        }

        @Override
        public String subject() {
            return username;
        }
    }

    record ForServiceAccount(String clientId) implements AccessRule {
        @Override
        public boolean admits(Caller caller) {
            return caller.clientId().filter(clientId::equals).isPresent();
        }

        @Override
        public boolean admitsNamed(String username) {
            return username.equals(Caller.SERVICE_ACCOUNT_PREFIX + clientId);
        }

        @Override
        public Kind kind() {
            return Kind.SERVICE_ACCOUNT;
        }

        @Override
        public String subject() {
            return clientId;
        }
    }

    /** Admits all users and service accounts of the tenant. */
    record ForEveryone() implements AccessRule {
        @Override
        public boolean admits(Caller caller) {
            return caller.realm() instanceof Realm.Tenant;
        }

        @Override
        public boolean includes(AccessRule other) {
            return true;
        }

        @Override
        public boolean admitsNamed(String username) {
            return true;
        }

        @Override
        public Kind kind() {
            return Kind.EVERYONE;
        }

        @Override
        public String subject() {
            return "*";
        }
    }

    static AccessRule of(Kind kind, String subject) {
        return switch (kind) {
            case GROUP -> new ForGroup(new GroupPath(subject));
            case USER -> new ForUser(subject);
            case SERVICE_ACCOUNT -> new ForServiceAccount(subject);
            case EVERYONE -> new ForEveryone();
        };
    }
}
