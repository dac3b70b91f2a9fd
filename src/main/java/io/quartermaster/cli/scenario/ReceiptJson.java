package io.quartermaster.cli.scenario;

import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.OrderReceipt;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON form of receipts, with fields in a fixed order. */
final class ReceiptJson {
    private ReceiptJson() {}

    /** The whole receipt. The receipt of an eviction keeps its place in the output, with and without this one. */
    static Map<String, Object> of(DecisionReceipt receipt) {
        Map<String, Object> object = new LinkedHashMap<>();
        receipt.turn().ifPresent(orderReceipt -> object.put("turn", order(orderReceipt)));
        receipt.givenUp().ifPresent(why -> object.put("givenUp", why));
        if (!receipt.notTaken().isEmpty()) {
            object.put(
                    "notTaken",
                    receipt.notTaken().stream().map(SimulationJson::reason).toList());
        }
        object.put("before", shares(receipt.before()));
        object.put("after", shares(receipt.after()));
        if (!receipt.stops().isEmpty()) {
            Map<String, Object> stops = new LinkedHashMap<>();
            receipt.stops().forEach(stop -> stops.put(stop.workload().value(), eviction(stop.receipt())));
            object.put("stops", stops);
        }
        return object;
    }

    private static Map<String, Object> order(OrderReceipt orderReceipt) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("withinReserved", orderReceipt.withinReserved());
        object.put("candidates", orderReceipt.candidates());
        orderReceipt.placeInPool().ifPresent(place -> object.put("placeInPool", place));
        orderReceipt.placeInProfile().ifPresent(place -> object.put("placeInProfile", place));
        object.put(
                "won", orderReceipt.won().stream().map(ReceiptJson::comparison).toList());
        return object;
    }

    private static Map<String, Object> comparison(OrderReceipt.Comparison comparison) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("by", comparison.by());
        object.put("own", side(comparison.own()));
        object.put("other", side(comparison.other()));
        return object;
    }

    private static Map<String, Object> side(OrderReceipt.Side side) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("workload", side.workload().value());
        object.put("scope", side.scope().toString());
        object.put("path", side.path().toString());
        object.put("rank", side.rank());
        object.put("used", SimulationJson.gpus(side.usedGpuMilli()));
        object.put("requested", SimulationJson.gpus(side.requestedGpuMilli()));
        object.put("share", SimulationJson.gpus(side.shareGpuMilli()));
        return object;
    }

    /** The receipt of an eviction. */
    static Map<String, Object> eviction(EvictionReceipt evictionReceipt) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("right", evictionReceipt.right());
        object.put("before", shares(evictionReceipt.before()));
        object.put("after", shares(evictionReceipt.after()));
        Map<String, Object> considered = new LinkedHashMap<>();
        evictionReceipt
                .considered()
                .forEach(one -> considered.put(one.workload().value(), one.outcome()));
        object.put("considered", considered);
        return object;
    }

    private static List<Map<String, Object>> shares(List<EvictionReceipt.Share> shares) {
        return shares.stream().map(ReceiptJson::share).toList();
    }

    private static Map<String, Object> share(EvictionReceipt.Share share) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("scope", share.scope().toString());
        object.put("path", share.path().toString());
        object.put("used", SimulationJson.gpus(share.usedGpuMilli()));
        object.put("reserved", SimulationJson.gpus(share.reservedGpuMilli()));
        object.put("fair", SimulationJson.gpus(share.fairGpuMilli()));
        return object;
    }
}
