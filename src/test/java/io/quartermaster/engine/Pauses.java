package io.quartermaster.engine;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/** Pauses of the garbage collectors of this JVM, from now on; concurrent work of the collectors does not count. */
final class Pauses {
    private final AtomicLong longestMillis = new AtomicLong();
    private final AtomicLong count = new AtomicLong();

    Pauses() {
        for (GarbageCollectorMXBean collector : halting()) {
            ((NotificationEmitter) collector)
                    .addNotificationListener(
                            (notification, handback) -> {
                                var told = GarbageCollectionNotificationInfo.from(
                                        (CompositeData) notification.getUserData());
                                longestMillis.accumulateAndGet(told.getGcInfo().getDuration(), Math::max);
                                count.incrementAndGet();
                            },
                            null,
                            null);
        }
    }

    private static List<GarbageCollectorMXBean> halting() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(collector -> !collector.getName().contains("Concurrent")
                        && !collector.getName().contains("Cycles"))
                .toList();
    }

    String collectors() {
        return String.join(
                ", ", halting().stream().map(GarbageCollectorMXBean::getName).toList());
    }

    long longestMillis() {
        return longestMillis.get();
    }

    long count() {
        return count.get();
    }
}
