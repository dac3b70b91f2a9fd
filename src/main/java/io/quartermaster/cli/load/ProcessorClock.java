package io.quartermaster.cli.load;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * The processor time of the service and of PostgreSQL since they started. Unlike rates, it hardly depends on other work
 * of the machine.
 *
 * @param service the process of the service alone
 * @param database the first process of PostgreSQL; its children count with it
 */
public record ProcessorClock(ProcessHandle service, ProcessHandle database) {

    /** Processor time in nanoseconds. */
    record Time(long service, long database) {

        static final Time ZERO = new Time(0, 0);

        Time since(Time earlier) {
            return new Time(service - earlier.service, database - earlier.database);
        }

        Time plus(Time other) {
            return new Time(service + other.service, database + other.database);
        }
    }

    /** The time until now. A child of PostgreSQL that has ended no longer counts. */
    Time now() {
        return new Time(nanos(Stream.of(service)), nanos(Stream.concat(Stream.of(database), database.descendants())));
    }

    private static long nanos(Stream<ProcessHandle> processes) {
        List<Duration> times = processes
                .flatMap(process -> process.info().totalCpuDuration().stream())
                .toList();
        return times.stream().mapToLong(Duration::toNanos).sum();
    }
}
