package io.quartermaster.cli;

import io.quartermaster.engine.simulation.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Curves over time as one HTML page that needs nothing from elsewhere: the drawing is SVG. */
final class SimulationChart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 240;
    private static final List<String> COLOURS =
            List.of("#2563eb", "#dc2626", "#16a34a", "#9333ea", "#ea580c", "#0891b2", "#4b5563", "#ca8a04");

    /** A curve; its points are in order of {@code x}. */
    private record Curve(String name, List<Point> points) {}

    private record Point(long x, long y) {}

    private SimulationChart() {}

    /** For each scenario what every tenant holds, and how many wait. */
    static String of(List<Result> results) {
        StringBuilder body = new StringBuilder();
        for (Result result : results) {
            body.append("<h2>").append(escaped(result.scenario())).append("</h2>\n");
            List<Curve> held = new ArrayList<>();
            result.usage().forEach((name, samples) -> held.add(curve(name, samples)));
            body.append(drawing("GPUs held, by tenant", held, true));
            body.append(drawing("waiting", List.of(curve("waiting", result.waiting())), true));
        }
        return page(body);
    }

    private static Curve curve(String name, List<Result.Sample> samples) {
        return new Curve(
                name,
                samples.stream()
                        .map(sample -> new Point(sample.atMillis(), sample.value()))
                        .toList());
    }

    /** What is allocated, and what is free but of no use, by what has been requested. */
    static String ofTrace(List<Long> allocated, List<Long> stranded) {
        List<Curve> curves = List.of(
                new Curve("allocated, % of all GPUs", byTenths(allocated)),
                new Curve("unusable, % of all GPUs", byTenths(stranded)));
        return page(
                new StringBuilder("<h2>Trace</h2>\n").append(drawing("requested, tenths of all GPUs", curves, false)));
    }

    private static List<Point> byTenths(List<Long> values) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            points.add(new Point(i + 1, values.get(i)));
        }
        return points;
    }

    /** @param steps whether a value holds until the next point */
    private static String drawing(String title, List<Curve> curves, boolean steps) {
        long lastX = 1;
        long mostY = 1;
        for (Curve curve : curves) {
            for (Point point : curve.points()) {
                lastX = Math.max(lastX, point.x());
                mostY = Math.max(mostY, point.y());
            }
        }
        StringBuilder svg =
                new StringBuilder("<h3>" + escaped(title) + "</h3>\n<svg viewBox=\"0 0 " + (WIDTH + 200) + " "
                        + (HEIGHT + 20) + "\" role=\"img\">\n<rect width=\"" + WIDTH + "\" height=\"" + HEIGHT
                        + "\" fill=\"none\" stroke=\"#d1d5db\"/>\n");
        for (int i = 0; i < curves.size(); i++) {
            String colour = COLOURS.get(i % COLOURS.size());
            svg.append("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + colour + "\" points=\"");
            long y = 0;
            for (Point point : curves.get(i).points()) {
                if (steps) {
                    svg.append(at(point.x(), y, lastX, mostY));
                }
                y = point.y();
                svg.append(at(point.x(), y, lastX, mostY));
            }
            svg.append(steps ? at(lastX, y, lastX, mostY) : "").append("\"/>\n");
            svg.append("<text x=\"" + (WIDTH + 10) + "\" y=\"" + (16 + 18 * i) + "\" font-size=\"13\" fill=\"" + colour
                    + "\">" + escaped(curves.get(i).name()) + "</text>\n");
        }
        svg.append("<text x=\"4\" y=\"14\" font-size=\"12\">" + decimal(mostY) + "</text>\n");
        svg.append("<text x=\"" + WIDTH + "\" y=\"" + (HEIGHT + 14) + "\" font-size=\"12\" text-anchor=\"end\">"
                + (steps ? decimal(lastX) + " s" : String.valueOf(lastX)) + "</text>\n");
        return svg.append("</svg>\n").toString();
    }

    private static String at(long x, long y, long lastX, long mostY) {
        return WIDTH * x / lastX + "," + (HEIGHT - HEIGHT * y / mostY) + " ";
    }

    /** Thousandths as a decimal. */
    private static String decimal(long milli) {
        return milli % 1000 == 0
                ? String.valueOf(milli / 1000)
                : String.format(Locale.ROOT, "%d.%03d", milli / 1000, milli % 1000);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }

    private static String page(StringBuilder body) {
        return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Simulation</title>\n"
                + "<style>body{font-family:sans-serif;max-width:1120px;margin:2em auto}h3{font-size:1em}</style>"
                + "</head>\n<body>\n" + body + "</body></html>\n";
    }
}
