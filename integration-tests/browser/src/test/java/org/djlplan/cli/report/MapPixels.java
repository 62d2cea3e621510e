package org.djlplan.cli.report;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.List;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.interactions.WheelInput;

/**
 * Computes where the memory map must draw a tensor, from the data alone. Before any zoom, the map's
 * horizontal axis shows all steps; its vertical axis has room for every plan that is at most 15 %
 * larger than the best.
 */
final class MapPixels {

    private static final double LEFT = 74;
    private static final double RIGHT = 14;
    private static final double TOP = 30;
    private static final double BOTTOM = 42;
    private static final double HEADROOM = 1.06;

    private final Browser browser;
    private final JsonObject plan;
    private final WebElement canvas;
    private final double width;
    private final double height;
    private double firstStep;
    private double steps;
    private double lowBytes;
    private double bytes;

    MapPixels(Browser browser, JsonObject plan) {
        this.browser = browser;
        this.plan = plan;
        canvas = browser.find(".map canvas[tabindex]");
        width = canvas.getSize().getWidth() - LEFT - RIGHT;
        height = canvas.getSize().getHeight() - TOP - BOTTOM;
        steps = plan.getAsJsonArray("operators").size();
        long best = strategy(plan, plan.get("best").getAsString()).get("totalBytes").getAsLong();
        for (JsonElement strategy : plan.getAsJsonArray("strategies")) {
            long total = strategy.getAsJsonObject().get("totalBytes").getAsLong();
            if (total <= 1.15 * best) {
                bytes = Math.max(bytes, total * HEADROOM);
            }
        }
    }

    WebElement canvas() {
        return canvas;
    }

    /** Follows a zoom around the middle of time and the lowest address. */
    void zoomed(double factor) {
        double next = steps * factor;
        firstStep += (steps - next) / 2;
        steps = next;
        bytes *= factor;
    }

    /** Follows a fit to all steps, and to addresses up to {@code highest}. */
    void fitted(long highest) {
        bytes = highest * HEADROOM;
    }

    /** Returns whether the middle of a tensor is in the picture, a few pixels from its ends. */
    boolean visible(int tensor, String strategy) {
        double x = x(tensor);
        double y = y(tensor, strategy);
        return x > LEFT + 4 && x < LEFT + width - 4 && y > TOP + 4 && y < TOP + height - 4;
    }

    void hover(int tensor, String strategy) {
        browser.actions()
                .moveToElement(canvas, fromCentreX(tensor), fromCentreY(tensor, strategy))
                .perform();
        browser.frames();
    }

    void click(int tensor, String strategy) {
        browser.actions()
                .moveToElement(canvas, fromCentreX(tensor), fromCentreY(tensor, strategy))
                .click()
                .perform();
        browser.frames();
    }

    void wheel(int tensor, String strategy, int deltaY) {
        WheelInput.ScrollOrigin origin =
                WheelInput.ScrollOrigin.fromElement(
                        canvas, fromCentreX(tensor), fromCentreY(tensor, strategy));
        browser.actions().scrollFromOrigin(origin, 0, deltaY).perform();
        browser.frames();
    }

    /** Returns red, green, blue and alpha in the middle of a tensor. */
    List<?> colour(int tensor, String strategy) {
        return (List<?>)
                browser.run(
                        "const copy = new OffscreenCanvas(1, 1).getContext('2d');"
                                + "copy.drawImage(document.querySelector('.map canvas'),"
                                + " -Math.floor(arguments[0]), -Math.floor(arguments[1]));"
                                + "return Array.from(copy.getImageData(0, 0, 1, 1).data)",
                        x(tensor),
                        y(tensor, strategy));
    }

    private int fromCentreX(int tensor) {
        return (int) Math.round(x(tensor) - canvas.getSize().getWidth() / 2.0);
    }

    private int fromCentreY(int tensor, String strategy) {
        return (int) Math.round(y(tensor, strategy) - canvas.getSize().getHeight() / 2.0);
    }

    private double x(int tensor) {
        JsonObject record = plan.getAsJsonArray("tensors").get(tensor).getAsJsonObject();
        double middle = (record.get("first").getAsInt() + record.get("last").getAsInt() + 1) / 2.0;
        return LEFT + (middle - firstStep) / steps * width;
    }

    private double y(int tensor, String strategy) {
        JsonObject record = plan.getAsJsonArray("tensors").get(tensor).getAsJsonObject();
        double middle =
                offsets(plan, strategy).get(tensor).getAsLong()
                        + record.get("bytes").getAsLong() / 2.0;
        return TOP + height - (middle - lowBytes) / bytes * height;
    }

    static JsonArray offsets(JsonObject plan, String name) {
        return strategy(plan, name).getAsJsonArray("offsets");
    }

    static JsonObject strategy(JsonObject plan, String name) {
        for (JsonElement strategy : plan.getAsJsonArray("strategies")) {
            if (strategy.getAsJsonObject().get("name").getAsString().equals(name)) {
                return strategy.getAsJsonObject();
            }
        }
        throw new AssertionError("no strategy " + name);
    }
}
