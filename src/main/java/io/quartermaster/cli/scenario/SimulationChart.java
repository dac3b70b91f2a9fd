package io.quartermaster.cli.scenario;

import io.quartermaster.engine.simulation.SimulationResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Chart of a simulation: one self-contained HTML page with curves as SVG. */
public final class SimulationChart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 240;
    private static final List<String> COLOURS =
            List.of("#2563eb", "#dc2626", "#16a34a", "#9333ea", "#ea580c", "#0891b2", "#4b5563", "#ca8a04");

    private static final String BOUND_COLOUR = "#6b7280";

    /**
     * A curve.
     *
     * @param points the points in the order of {@code x}
     * @param bound whether the curve is the upper bound of the other curves
     */
    private record Curve(String name, List<Point> points, boolean bound) {
        String colour(int index) {
            return bound ? BOUND_COLOUR : COLOURS.get(index % COLOURS.size());
        }
    }

    private record Point(long x, long y) {}

    /**
     * The horizontal axis, from 0.
     *
     * @param steps whether a value applies until the next point, and the last value to the end
     */
    private record Axis(long last, String label, boolean steps) {}

    private SimulationChart() {}

    /** For each scenario, over the whole simulated time: the use by tenant, the capacity and the waiting workloads. */
    public static String of(List<SimulationResult> simulationResults) {
        StringBuilder body = new StringBuilder();
        for (SimulationResult simulationResult : simulationResults) {
            // If the simulation has only one moment, its values extend along the whole axis.
            Axis time = new Axis(
                    Math.max(1, simulationResult.endMillis()), decimal(simulationResult.endMillis()) + " s", true);
            body.append("<h2>").append(escape(simulationResult.scenario())).append("</h2>\n");
            List<Curve> held = new ArrayList<>();
            simulationResult.usage().forEach((name, samples) -> held.add(curve(name, samples, false)));
            held.add(curve("capacity of all pools", simulationResult.capacity(), true));
            body.append(drawing("GPUs held, by tenant", held, time));
            body.append(drawing("waiting", List.of(curve("waiting", simulationResult.waiting(), false)), time));
        }
        return page(body);
    }

    private static Curve curve(String name, List<SimulationResult.Sample> samples, boolean bound) {
        return new Curve(
                name,
                samples.stream()
                        .map(sample -> new Point(sample.atMillis(), sample.value()))
                        .toList(),
                bound);
    }

    /** The allocated and the unusable free GPUs, as a function of the requested GPUs. */
    public static String ofTrace(List<Long> allocated, List<Long> stranded) {
        List<Curve> curves = List.of(
                new Curve("allocated, % of all GPUs", pointsByTenths(allocated), false),
                new Curve("unusable, % of all GPUs", pointsByTenths(stranded), false));
        long last = Math.max(1, allocated.size());
        return page(new StringBuilder("<h2>Trace</h2>\n")
                .append(drawing("requested, tenths of all GPUs", curves, new Axis(last, String.valueOf(last), false))));
    }

    private static List<Point> pointsByTenths(List<Long> values) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            points.add(new Point(i + 1, values.get(i)));
        }
        return points;
    }

    private static String drawing(String title, List<Curve> curves, Axis axis) {
        long mostY = 1;
        for (Curve curve : curves) {
            for (Point point : curve.points()) {
                mostY = Math.max(mostY, point.y());
            }
        }
        StringBuilder svg =
                new StringBuilder("<h3>" + escape(title) + "</h3>\n<svg viewBox=\"0 0 " + (WIDTH + 200) + " "
                        + (HEIGHT + 20) + "\" role=\"img\">\n<rect width=\"" + WIDTH + "\" height=\"" + HEIGHT
                        + "\" fill=\"none\" stroke=\"#d1d5db\"/>\n");
        for (int i = 0; i < curves.size(); i++) {
            String colour = curves.get(i).colour(i);
            svg.append("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + colour
                    + (curves.get(i).bound() ? "\" stroke-dasharray=\"6 4" : "") + "\" points=\"");
            for (Point point : axis.steps()
                    ? steps(curves.get(i).points(), axis.last())
                    : curves.get(i).points()) {
                svg.append(svgPoint(point, axis.last(), mostY));
            }
            svg.append("\"/>\n");
            svg.append("<text x=\"" + (WIDTH + 10) + "\" y=\"" + (16 + 18 * i) + "\" font-size=\"13\" fill=\"" + colour
                    + "\">" + escape(curves.get(i).name()) + "</text>\n");
        }
        svg.append("<text x=\"4\" y=\"14\" font-size=\"12\">" + decimal(mostY) + "</text>\n");
        svg.append("<text x=\"" + WIDTH + "\" y=\"" + (HEIGHT + 14) + "\" font-size=\"12\" text-anchor=\"end\">"
                + axis.label() + "</text>\n");
        return svg.append("</svg>\n").toString();
    }

    /**
     * The corners of a step curve, whose value applies until the next point: 0 before the first point, and the last
     * value to the end.
     */
    private static List<Point> steps(List<Point> points, long lastX) {
        List<Point> corners = new ArrayList<>();
        Point before = new Point(0, 0);
        corners.add(before);
        for (Point point : points) {
            corners.add(new Point(point.x(), before.y()));
            corners.add(point);
            before = point;
        }
        corners.add(new Point(lastX, before.y()));
        return corners;
    }

    private static String svgPoint(Point point, long lastX, long mostY) {
        return WIDTH * point.x() / lastX + "," + (HEIGHT - HEIGHT * point.y() / mostY) + " ";
    }

    /** Thousandths as a decimal. */
    private static String decimal(long milli) {
        return milli % 1000 == 0
                ? String.valueOf(milli / 1000)
                : String.format(Locale.ROOT, "%d.%03d", milli / 1000, milli % 1000);
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }

    private static String page(StringBuilder body) {
        return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Simulation</title>\n"
                + "<style>body{font-family:sans-serif;max-width:1120px;margin:2em auto}h3{font-size:1em}</style>"
                + "</head>\n<body>\n" + body + "</body></html>\n";
    }
}
