package org.djlplan.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Reads damaged report files: the result is the complete report, or an error of one line. */
class ReportFuzzTest {

    private static final List<JsonElement> STRANGE =
            List.of(
                    JsonNull.INSTANCE,
                    new JsonPrimitive(-1),
                    new JsonPrimitive(Long.MAX_VALUE),
                    new JsonPrimitive(1e300),
                    new JsonPrimitive("1e999999999"),
                    new JsonPrimitive("text"),
                    new JsonPrimitive(true),
                    new JsonPrimitive(0.5),
                    new JsonArray(),
                    new JsonObject());

    private static final String TEXT = SampleReports.chain(12, "t").toJson().toString();

    private static void assertReadOrRefused(String text) {
        Report report;
        try {
            report = Report.parse(text);
        } catch (ReportFormatException e) {
            assertTrue(e.getMessage().startsWith("no report: "), e.getMessage());
            assertFalse(e.getMessage().contains("\n"), e.getMessage());
            assertTrue(e.getMessage().length() < 300, e.getMessage());
            return;
        }
        // A report that is accepted can be drawn, traced and written.
        assertFalse(MapPicture.svg(report).isEmpty());
        assertFalse(ChromeTrace.of(report).isEmpty());
        assertEquals(report.toJson(), Report.parse(report.toJson().toString()).toJson());
    }

    @Example
    void written_isReadAsItWas() {
        assertEquals(TEXT, Report.parse(TEXT).toJson().toString());
    }

    /** A random byte once made a name like this. */
    @Example
    void newLineInAName_isNotInTheMessage() {
        assertReadOrRefused(TEXT.replace("arena", "\narena"));
    }

    @Property(tries = 300)
    void anyValueStrange(@ForAll long seed) {
        JsonElement json = JsonParser.parseString(TEXT);
        Random random = new Random(seed);
        JsonElement at = json;
        while (true) {
            JsonElement next;
            if (at instanceof JsonObject object) {
                List<String> keys = List.copyOf(object.keySet());
                String key = keys.get(random.nextInt(keys.size()));
                next = object.get(key);
                if (isLeaf(next) || random.nextInt(6) == 0) {
                    object.add(key, strange(random));
                    break;
                }
            } else {
                JsonArray array = at.getAsJsonArray();
                int index = random.nextInt(array.size());
                next = array.get(index);
                if (isLeaf(next) || random.nextInt(6) == 0) {
                    array.set(index, strange(random));
                    break;
                }
            }
            at = next;
        }
        assertReadOrRefused(json.toString());
    }

    private static boolean isLeaf(JsonElement element) {
        return element.isJsonPrimitive()
                || element.isJsonNull()
                || (element instanceof JsonArray array && array.isEmpty())
                || (element instanceof JsonObject object && object.isEmpty());
    }

    private static JsonElement strange(Random random) {
        return STRANGE.get(random.nextInt(STRANGE.size()));
    }

    @Property(tries = 200)
    void anyByteOther(@ForAll @IntRange(max = 1 << 20) int place, @ForAll byte value) {
        byte[] content = TEXT.getBytes(UTF_8);
        content[place % content.length] = value;
        assertReadOrRefused(new String(content, UTF_8));
    }

    @Property(tries = 100)
    void anyEndMissing(@ForAll @IntRange(max = 1 << 20) int length) {
        assertReadOrRefused(TEXT.substring(0, length % TEXT.length()));
    }

    @Example
    void hugeNumbersAndDepths_areRefusedAtOnce() {
        for (String hostile :
                List.of(
                        "[".repeat(100_000),
                        "{\"format\":1e999999999}",
                        "{\"format\":" + "9".repeat(100_000) + "}",
                        "",
                        "null")) {
            assertThrows(ReportFormatException.class, () -> Report.parse(hostile));
        }
    }
}
