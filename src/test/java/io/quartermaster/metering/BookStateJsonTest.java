package io.quartermaster.metering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.PostingResult;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageEvent;
import java.util.List;
import org.junit.jupiter.api.Test;

class BookStateJsonTest {

    private static final TenantKey TENANT = new TenantKey("acme");
    private static final PoolKey POOL = new PoolKey("h100");
    private static final PolicyId POLICY = new PolicyId("p");

    private static BookState state() {
        Book book = Book.empty(TENANT, 100);
        AllocationMarks allocationMarks =
                new AllocationMarks(POLICY, "/a", "large", "q", "w", "at", "ada", "here", true);
        List<UsageEvent> events = List.of(
                new UsageEvent.TenantReserved(10, 0, TENANT, POOL, 4000),
                new UsageEvent.PolicyReserved(10, 1, TENANT, POLICY, POOL, 1000),
                new UsageEvent.Allocated(20, 2, TENANT, new AllocationId("a"), POOL, 3000, allocationMarks),
                new UsageEvent.Allocated(20, 3, TENANT, new AllocationId("b"), POOL, 3000, allocationMarks),
                new UsageEvent.PhaseChanged(30, 4, TENANT, new AllocationId("a"), Phase.RUNNING),
                new UsageEvent.Unmet(35, 5, TENANT, POOL, 1),
                new UsageEvent.Freed(40, 6, TENANT, new AllocationId("b")));
        events.forEach(event -> assertThat(book.apply(event)).isInstanceOf(PostingResult.Posted.class));
        return book.state();
    }

    @Test
    void aStateIsReadBackAsItWasWritten() {
        assertThat(BookStateJson.read(BookStateJson.write(state()))).isEqualTo(state());
    }

    /** A change of this text needs a new format version, and a reader for the old one too. */
    @Test
    void theTextOfFormat1DoesNotChange() {
        Book book = Book.empty(TENANT, 100);
        AllocationMarks allocationMarks =
                new AllocationMarks(POLICY, "/a", "large", "q", "w", "at", "ada", "here", true);
        book.apply(new UsageEvent.Allocated(20, 2, TENANT, new AllocationId("a"), POOL, 3000, allocationMarks));

        assertThat(BookStateJson.write(book.state())).isEqualTo("""
                {"format":1,"tenant":"acme","hourMillis":100,"closedUntilMillis":0,"atMillis":20,"seq":2,"pools":[{"pool":"h100",\
                "reserved":[],"idle":[{"fromMillis":20,"gpuMilli":0}],"unmet":[],"policies":[],"allocations":[{"allocation":"a","gpuMilli":3000,\
                "startMillis":20,"freedMillis":null,"marks":{"policy":"p","group":"/a","profile":"large","queue":"q","workload":"w",\
                "attempt":"at","user":"ada","cluster":"here","preemptible":true},\
                "fills":[{"fromMillis":20,"reservedGpuMilli":0,"withinGpuMilli":0}],"phases":[{"fromMillis":20,"phase":"starting"}]}]}]}""");
    }

    @Test
    void whatIsMissingUnknownOrOfAnotherFormatIsRefused() {
        String text = BookStateJson.write(state());
        List.of(
                        text.replaceFirst("\"seq\":6,", ""),
                        text.replaceFirst("\"seq\":6", "\"seq\":6,\"extra\":1"),
                        text.replaceFirst("\"format\":1", "\"format\":2"),
                        text.replaceFirst("\"phase\":\"running\"", "\"phase\":\"resting\""))
                .forEach(changed -> assertThatThrownBy(() -> BookStateJson.read(changed))
                        .isInstanceOf(IllegalStateException.class));
    }
}
