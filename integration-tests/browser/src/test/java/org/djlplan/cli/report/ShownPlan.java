package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads the plan that the open page shows. */
final class ShownPlan {

    private final Browser browser;

    ShownPlan(Browser browser) {
        this.browser = browser;
    }

    /**
     * Asserts that the page shows the plan that {@code djlplan plan --json} printed.
     *
     * @param steps the page's word for the steps of the plan
     */
    void assertIs(JsonObject plan, String steps) {
        Map<String, Long> planned = new TreeMap<>();
        for (JsonElement result : plan.getAsJsonArray("results")) {
            planned.put(
                    result.getAsJsonObject().get("strategy").getAsString(),
                    result.getAsJsonObject().get("totalBytes").getAsLong());
        }
        Map<String, Long> shown = new TreeMap<>();
        for (List<String> cells : rows("Plans")) {
            if (!cells.get(0).equals(PlanNames.ENGINE)) {
                shown.put(cells.get(0), number(cells.get(2)));
            }
        }
        assertEquals(planned, shown);
        long widest = rows(steps).stream().mapToLong(row -> number(row.get(2))).max().orElse(0);
        assertEquals(plan.get("lowerBoundBytes").getAsLong(), widest);
        List<List<String>> planRows =
                rows("Tensors").stream()
                        .filter(row -> !row.get(6).equals("inputs and outputs"))
                        .toList();
        assertEquals(plan.get("records").getAsLong(), planRows.size());
        assertEquals(
                plan.get("naiveBytes").getAsLong(),
                planRows.stream().mapToLong(row -> number(row.get(2))).sum());
        assertTrue(
                browser.text(".cards").contains(plan.get("records").getAsLong() + " tensors"),
                browser.text(".cards"));
        String best = plan.getAsJsonObject("best").get("strategy").getAsString();
        assertEquals(List.of(best), browser.texts(".plan:has(input:checked) .name"));
    }

    /** Unfolds a table, and returns the cells of all its pages. */
    @SuppressWarnings("unchecked") // texts, as the script says
    List<List<String>> rows(String caption) {
        return (List<List<String>>)
                browser.runAsync(
                        """
                        const [caption, done] = arguments;
                        const folded = [...document.querySelectorAll('details')].find(
                          (each) => each.querySelector('summary').textContent.startsWith(caption + ':'));
                        folded.open = true;
                        setTimeout(() => {
                          const rows = [];
                          const read = () => folded.querySelectorAll('tbody tr').forEach(
                            (row) => rows.push([...row.children].map((cell) => cell.textContent)));
                          read();
                          const [back, on] = folded.querySelectorAll('.pages button');
                          while (on && !on.disabled) {
                            on.click();
                            read();
                          }
                          while (back && !back.disabled) back.click();
                          done(rows);
                        });
                        """,
                        caption);
    }

    private static long number(String cell) {
        return Long.parseLong(cell.replace("\u202f", ""));
    }
}
