package io.quartermaster.agent.supervisor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * A clock that never jumps and that all processes of one boot share: milliseconds since the boot with the given id.
 *
 * <p>On Linux it reads {@code /proc/uptime}, which is CLOCK_BOOTTIME in steps of 10 ms. Unlike CLOCK_MONOTONIC (and
 * {@link System#nanoTime}) it advances while the machine sleeps, as the service's clock does. So a lease cannot last
 * longer here than the service counts. Elsewhere it is {@link System#nanoTime}, which HotSpot takes from the machine's
 * own monotonic clock and which is therefore the same in every process.
 *
 * <p>A reading is rounded down. For the start of a lease, that is on the safe side. For the end of a lease, work may
 * end up to 10 ms late, which the service's margin covers many times over.
 */
public final class BootClock {
    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private final String bootId;
    private final boolean hasUptime;

    private BootClock(String bootId, boolean hasUptime) {
        this.bootId = bootId;
        this.hasUptime = hasUptime;
    }

    public static BootClock system() {
        try {
            if (Files.isReadable(UPTIME) && Files.isReadable(BOOT_ID)) {
                return new BootClock(Files.readString(BOOT_ID).strip(), true);
            }
            String session = Commands.output(5_000, "sysctl", "-n", "kern.bootsessionuuid");
            return new BootClock(session.strip(), false);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot distinguish one boot of this machine from the next", e);
        }
    }

    /** The id of this boot. Readings of different boots must not be compared. */
    public String bootId() {
        return bootId;
    }

    /** A moment on the clock of the named boot. */
    public record Reading(String bootId, long millis) {}

    public Reading read() {
        return new Reading(bootId, millis());
    }

    /**
     * The age of a reading. A reading of an earlier boot is at least as old as this boot, so that age is returned; it
     * is empty if the clock does not begin with the boot.
     */
    public OptionalLong ageMillis(Reading then) {
        if (then.bootId.equals(bootId)) {
            return OptionalLong.of(Math.max(0, millis() - then.millis));
        }
        return hasUptime ? OptionalLong.of(millis()) : OptionalLong.empty();
    }

    public long millis() {
        if (!hasUptime) {
            return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
        }
        try {
            String uptime = Files.readString(UPTIME);
            int point = uptime.indexOf('.');
            long seconds = Long.parseLong(uptime, 0, point, 10);
            int hundredths = Integer.parseInt(uptime, point + 1, point + 3, 10);
            return seconds * 1_000 + hundredths * 10L;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + UPTIME, e);
        }
    }
}
