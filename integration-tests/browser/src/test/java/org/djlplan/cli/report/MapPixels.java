package org.djlplan.cli.report;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.List;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.interactions.WheelInput;

/**
 * Computes where the memory map must draw a tensor, from the data alone. Before any zoom, the map's
 * horizontal axis shows all steps; its vertical axis has room for every plan that is at most 15 %
 * larger than the best.
 */
final class MapPixels {

    private static final double HEADROOM = 1.06;

    private final Browser browser;
    private final JsonObject plan;

    /** The area inside the axes. */
    private final WebElement area;

    private final Dimension size;
    private double firstStep;
    private double steps;
    private double bytes;

    MapPixels(Browser browser, JsonObject plan) {
        this.browser = browser;
        this.plan = plan;
        area = browser.find(".map .u-over");
        size = area.getSize();
        steps = plan.getAsJsonArray("operators").size();
        long best = strategy(plan, plan.get("best").getAsString()).get("totalBytes").getAsLong();
        for (JsonElement strategy : plan.getAsJsonArray("strategies")) {
            long total = strategy.getAsJsonObject().get("totalBytes").getAsLong();
            if (total <= 1.15 * best) {
                bytes = Math.max(bytes, total * HEADROOM);
            }
        }
    }

    WebElement area() {
        return area;
    }

    /** Follows a zoom around the middle of time and the lowest address. */
    void zoomed(double factor) {
        double next = steps * factor;
        firstStep += (steps - next) / 2;
        steps = next;
        bytes *= factor;
    }

    /** Fits a whole plan into the picture. */
    void fit(JsonObject strategy) {
        browser.find(".map").sendKeys("0");
        browser.frames();
        bytes = strategy.get("totalBytes").getAsLong() * HEADROOM;
    }

    /** Returns whether the middle of a tensor is in the picture, a few pixels from its ends. */
    boolean visible(int tensor, String strategy) {
        double x = x(tensor);
        double y = y(tensor, strategy);
        return x > 4 && x < size.getWidth() - 4 && y > 4 && y < size.getHeight() - 4;
    }

    void hover(int tensor, String strategy) {
        browser.actions()
                .moveToElement(area, fromCentreX(tensor), fromCentreY(tensor, strategy))
                .perform();
        browser.frames();
    }

    void click(int tensor, String strategy) {
        browser.actions()
                .moveToElement(area, fromCentreX(tensor), fromCentreY(tensor, strategy))
                .click()
                .perform();
        browser.frames();
    }

    void wheel(int tensor, String strategy, int deltaY) {
        WheelInput.ScrollOrigin origin =
                WheelInput.ScrollOrigin.fromElement(
                        area, fromCentreX(tensor), fromCentreY(tensor, strategy));
        browser.actions().scrollFromOrigin(origin, 0, deltaY).perform();
        browser.frames();
    }

    /** Returns red, green, blue and alpha in the middle of a tensor. */
    List<?> colour(int tensor, String strategy) {
        return (List<?>)
                browser.run(
                        """
                        const copy = new OffscreenCanvas(1, 1).getContext('2d');
                        const canvas = document.querySelector('.map canvas');
                        const outer = canvas.getBoundingClientRect();
                        const inner = document.querySelector('.map .u-over').getBoundingClientRect();
                        const x = inner.left - outer.left + arguments[0];
                        const y = inner.top - outer.top + arguments[1];
                        copy.drawImage(canvas, -Math.floor(x), -Math.floor(y));
                        return Array.from(copy.getImageData(0, 0, 1, 1).data);
                        """,
                        x(tensor),
                        y(tensor, strategy));
    }

    private int fromCentreX(int tensor) {
        return (int) Math.round(x(tensor) - size.getWidth() / 2.0);
    }

    private int fromCentreY(int tensor, String strategy) {
        return (int) Math.round(y(tensor, strategy) - size.getHeight() / 2.0);
    }

    private JsonObject tensor(int index) {
        return plan.getAsJsonArray("tensors").get(index).getAsJsonObject();
    }

    private double x(int tensor) {
        JsonObject record = tensor(tensor);
        double middle = (record.get("first").getAsInt() + record.get("last").getAsInt() + 1) / 2.0;
        return (middle - firstStep) / steps * size.getWidth();
    }

    private double y(int tensor, String strategy) {
        long offset = offsets(plan, strategy).get(tensor).getAsLong();
        double middle = offset + tensor(tensor).get("bytes").getAsLong() / 2.0;
        return size.getHeight() * (1 - middle / bytes);
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
