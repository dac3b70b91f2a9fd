package io.quartermaster.engine;

import io.quartermaster.engine.model.CapacityReservationId;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.ReservationWindow;
import io.quartermaster.engine.model.Scope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;

/** Random capacity reservations of holders with a quota, within the time of a random history. */
final class RandomCalendar {

    private RandomCalendar() {}

    static List<ReservationWindow> of(Random random, Collection<Quota> quotas) {
        List<ReservationWindow> windows = new ArrayList<>();
        for (Quota quota : quotas) {
            if (quota.scope() instanceof Scope.OnePool(PoolId pool) && random.nextInt(3) == 0) {
                long from = 1000L * random.nextInt(40);
                windows.add(new ReservationWindow(
                        new CapacityReservationId("w" + windows.size()),
                        quota.path(),
                        pool,
                        1000L * (1 + random.nextInt(4)),
                        random.nextInt(4) > 0,
                        from,
                        from + 1000L * (1 + random.nextInt(40))));
            }
        }
        return windows;
    }

    /** The amount by which the windows raise a quota at a moment. */
    static long raises(Collection<ReservationWindow> windows, Quota quota, long millis) {
        return windows.stream()
                .filter(each -> each.path().equals(quota.path())
                        && Scope.of(each.pool()).equals(quota.scope())
                        && each.fromMillis() <= millis
                        && millis < each.untilMillis())
                .mapToLong(ReservationWindow::gpuMilli)
                .sum();
    }
}
