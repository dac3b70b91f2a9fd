package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.quota.UsageView;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A GPU with its use, current and projected. It is shared either in parts or as MIG instances, never both. */
final class GpuCapacity {
    static final int WHOLE_GPU_MILLI = 1000;
    static final String ANY_TENANT = "";

    private final Node.Device device;
    private final Pool.Sharing sharing;
    private final Use now = new Use();
    private final Use next = new Use();

    /** The use in one view. */
    private static final class Use {
        private int gpuMilli;
        private int holders;
        private int instances;
        private int slices;
        private String tenant = "";
    }

    GpuCapacity(Node.Device device, Pool.Sharing sharing) {
        this.device = device;
        this.sharing = sharing;
    }

    int index() {
        return device.index();
    }

    Node.Device device() {
        return device;
    }

    int freeGpuMilli(Availability availability) {
        return switch (availability) {
            case NOW -> WHOLE_GPU_MILLI - Math.max(now.gpuMilli, next.gpuMilli);
            case AFTER_RELEASES -> WHOLE_GPU_MILLI - next.gpuMilli;
            case IGNORING_NOMINATIONS -> WHOLE_GPU_MILLI - now.gpuMilli;
        };
    }

    /**
     * The only tenant that may get further parts of this GPU, or {@link #ANY_TENANT} for every tenant. Null if the GPU
     * is not shared in parts, or must not be shared.
     */
    @Nullable
    String sharedBy(Availability availability) {
        return switch (availability) {
            case NOW -> {
                if (now.holders == 0 || next.holders == 0) {
                    yield sharedBy(now.holders == 0 ? next : now);
                }
                String byNow = sharedBy(now);
                yield byNow != null && byNow.equals(sharedBy(next)) ? byNow : null;
            }
            case AFTER_RELEASES -> sharedBy(next);
            case IGNORING_NOMINATIONS -> sharedBy(now);
        };
    }

    private @Nullable String sharedBy(Use use) {
        boolean inParts = use.holders > 0 && use.instances == 0;
        return switch (sharing) {
            case TENANT -> inParts ? use.tenant : null;
            case ANY -> inParts ? ANY_TENANT : null;
            case NONE -> null;
        };
    }

    boolean untouched(Availability availability) {
        return freeGpuMilli(availability) == WHOLE_GPU_MILLI;
    }

    /** The share of this GPU that the request would take, if it fits; at most one MIG instance. */
    Optional<Allocation.Share> findShare(GpuRequest gpus, String tenant, Availability availability) {
        return switch (gpus) {
            case GpuRequest.Whole whole ->
                untouched(availability) ? Optional.of(Allocation.Share.whole(index())) : Optional.empty();
            case GpuRequest.Fraction fraction -> part(fraction.gpuMilliEach(), tenant, availability);
            case GpuRequest.Memory memory ->
                memory.memoryMiBEach() > device.memoryMiB()
                        ? Optional.empty()
                        : part(partOf(memory.memoryMiBEach(), device.memoryMiB()), tenant, availability);
            case GpuRequest.Mig mig -> instance(mig, tenant, availability);
        };
    }

    static int partOf(long memoryMiB, long deviceMemoryMiB) {
        return (int) ((memoryMiB * WHOLE_GPU_MILLI + deviceMemoryMiB - 1) / deviceMemoryMiB);
    }

    private Optional<Allocation.Share> part(int gpuMilli, String tenant, Availability availability) {
        boolean fits = gpuMilli == WHOLE_GPU_MILLI
                ? untouched(availability)
                : gpuMilli <= freeGpuMilli(availability) && all(availability, use -> takesPart(use, tenant));
        return fits ? Optional.of(new Allocation.Share(index(), gpuMilli, Optional.empty())) : Optional.empty();
    }

    private Optional<Allocation.Share> instance(GpuRequest.Mig mig, String tenant, Availability availability) {
        OptionalInt slices = device.mig() ? MigSlots.slices(mig, device.memoryMiB()) : OptionalInt.empty();
        if (slices.isEmpty() || !all(availability, use -> takesInstance(use, tenant))) {
            return Optional.empty();
        }
        OptionalInt first = MigSlots.firstSlice(mig, slices.getAsInt(), occupied(availability));
        if (first.isEmpty()) {
            return Optional.empty();
        }
        Allocation.MigInstance instance = new Allocation.MigInstance(mig.profile(), first.getAsInt());
        return Optional.of(
                new Allocation.Share(index(), mig.computeSlices() * WHOLE_GPU_MILLI / 7, Optional.of(instance)));
    }

    /** Whether the condition holds in every view that the availability covers. */
    private boolean all(Availability availability, Predicate<Use> condition) {
        return switch (availability) {
            case NOW -> condition.test(now) && condition.test(next);
            case AFTER_RELEASES -> condition.test(next);
            case IGNORING_NOMINATIONS -> condition.test(now);
        };
    }

    private boolean takesPart(Use use, String tenant) {
        return use.holders == 0 || (use.instances == 0 && sharableWith(tenant, use));
    }

    private boolean takesInstance(Use use, String tenant) {
        return use.holders == 0 || (use.instances > 0 && sharableWith(tenant, use));
    }

    private boolean sharableWith(String tenant, Use use) {
        return switch (sharing) {
            case TENANT -> use.tenant.equals(tenant);
            case ANY -> true;
            case NONE -> false;
        };
    }

    private int occupied(Availability availability) {
        return switch (availability) {
            case NOW -> now.slices | next.slices;
            case AFTER_RELEASES -> next.slices;
            case IGNORING_NOMINATIONS -> now.slices;
        };
    }

    /** Whether a share that was chosen earlier fits. */
    boolean fits(Allocation.Share share, String tenant, Availability availability) {
        if (share.instance().isEmpty()) {
            return part(share.gpuMilli(), tenant, availability).isPresent();
        }
        return all(availability, use -> takesInstance(use, tenant))
                && (occupied(availability) & maskOf(share.instance().get())) == 0;
    }

    void add(Allocation.Share share, String tenant, UsageView view) {
        Use use = use(view);
        // A newcomer may start while another tenant's work still leaves. From then on the GPU belongs to the newcomer.
        use.tenant = tenant;
        use.holders++;
        use.gpuMilli += share.gpuMilli();
        share.instance().ifPresent(instance -> {
            use.instances++;
            use.slices |= maskOf(instance);
        });
    }

    void remove(Allocation.Share share, UsageView view) {
        Use use = use(view);
        use.holders--;
        use.gpuMilli -= share.gpuMilli();
        share.instance().ifPresent(instance -> {
            use.instances--;
            use.slices &= ~maskOf(instance);
        });
    }

    private int maskOf(Allocation.MigInstance instance) {
        int slices = MigSlots.slices(new GpuRequest.Mig(instance.profile()), device.memoryMiB())
                .orElse(0);
        return MigSlots.mask(instance.firstSlice(), slices);
    }

    private Use use(UsageView view) {
        return switch (view) {
            case CURRENT -> now;
            case PROJECTED -> next;
        };
    }
}
