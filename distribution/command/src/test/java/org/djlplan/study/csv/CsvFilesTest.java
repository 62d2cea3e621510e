package org.djlplan.study.csv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class CsvFilesTest {

    @TempDir Path folder;

    private Path write(String... lines) throws IOException {
        return Files.writeString(folder.resolve("file.csv"), String.join("\n", lines));
    }

    private void assertBad(int line, String column, String... lines) throws IOException {
        Path file = write(lines);
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> CsvFiles.readPlan(file));
        assertTrue(
                thrown.getMessage().startsWith("line " + line + ", column '" + column + "': "),
                thrown::getMessage);
    }

    @Test
    void readRecords_knownAt_isReadByTensor() throws IOException {
        Path file = write("id,lower,upper,size,known", "a,0,1,5,", "b,3,9,64,2", "c,4,5,8,0");
        CsvRecords read = CsvFiles.readRecords(file);
        assertEquals(Map.of(1, 2, 2, 0), read.knownAt());
        Path late = write("id,lower,upper,size,known", "a,3,4,5,4");
        assertThrows(IllegalArgumentException.class, () -> CsvFiles.readRecords(late));
    }

    @Test
    void readRecords_halfOpenIntervals_becomeInclusive() throws IOException {
        CsvRecords read =
                CsvFiles.readRecords(write("id,lower,upper,size", "7,0,1,5", "", "3,2,9,64\r", ""));
        assertEquals(
                List.of(new UsageRecord(7, 0, 0, 5), new UsageRecord(3, 2, 8, 64)), read.records());
        assertEquals(Map.of(7, "7", 3, "3"), read.ids());
    }

    @Test
    void readRecords_namesThatAreNoNumbers_areNumberedByRow() throws IOException {
        CsvRecords read =
                CsvFiles.readRecords(
                        write("id,lower,upper,size", "7,0,1,5", "07,1,2,5", "x,0,3,1"));
        assertEquals(Map.of(0, "7", 1, "07", 2, "x"), read.ids());
    }

    @Test
    void readRecords_columnsInAnotherOrder_areFoundByName() throws IOException {
        CsvRecords read =
                CsvFiles.readRecords(write("size, note, id, upper, lower", "5, hello, 0, 3, 1"));
        assertEquals(List.of(new UsageRecord(0, 1, 2, 5)), read.records());
    }

    @Test
    void readRecords_lastOperatorOfAll_fits() throws IOException {
        CsvRecords read =
                CsvFiles.readRecords(write("id,lower,upper,size", "0,2147483647,2147483648,5"));
        assertEquals(Integer.MAX_VALUE, read.records().get(0).last());
    }

    @Test
    void readRecords_headerOnly_isEmpty() throws IOException {
        assertEquals(List.of(), CsvFiles.readRecords(write("id,lower,upper,size")).records());
    }

    @Test
    void readPlan_badFile_namesLineAndColumn() throws IOException {
        String header = "id,lower,upper,size,offset,alias";
        assertBad(1, "id", "");
        assertBad(1, "size", "id,lower,upper,offset");
        assertBad(1, "id", "id,lower,upper,size,offset,id");
        assertBad(2, "id", header, ",0,1,5,0,");
        assertBad(3, "id", header, "a,0,1,5,0,", "a,0,1,5,0,");
        assertBad(2, "lower", header, "a,-1,1,5,0,");
        assertBad(2, "lower", header, "a,x,1,5,0,");
        assertBad(2, "upper", header, "a,1,1,5,0,");
        assertBad(2, "upper", header, "a,1,2147483649,5,0,");
        assertBad(2, "size", header, "a,0,1,0,0,");
        assertBad(2, "size", header, "a,0,1,9223372036854775808,0,");
        assertBad(2, "size", header, "a,0,1,1.5,0,");
        assertBad(2, "offset", header, "a,0,1,5,,");
        assertBad(2, "alias", header, "a,0,1,5,0,a");
        assertBad(3, "alias", header, "a,0,1,5,0,", "b,0,1,5,0,c");
        assertBad(2, "id", header, "a,0,1,5,0");
        assertBad(2, "id", header, "a".repeat(5000));
    }

    @Test
    void readPlan_withoutAliasColumn_hasNoClasses() throws IOException {
        CsvPlan plan = CsvFiles.readPlan(write("id,lower,upper,size,offset", "a,0,1,5,-3"));
        assertEquals(List.of(), plan.problem().aliasClasses());
        assertEquals(Map.of(0, -3L), plan.offsets());
    }

    @Test
    void readPlan_aliasesInChains_areOneClass() throws IOException {
        CsvPlan plan =
                CsvFiles.readPlan(
                        write(
                                "id,lower,upper,size,offset,alias",
                                "a,0,1,5,0,b",
                                "b,0,1,5,0,c",
                                "c,0,1,5,0,",
                                "e,0,1,5,5,d",
                                "d,0,1,5,5,",
                                "f,0,1,5,0,a"));
        assertEquals(List.of(0, 1, 2, 5), plan.problem().aliasClasses().get(0));
        assertEquals(List.of(3, 4), plan.problem().aliasClasses().get(1));
    }

    @Test
    void readRecords_noFile_isAnIoError() {
        assertThrows(
                NoSuchFileException.class,
                () -> CsvFiles.readRecords(folder.resolve("missing.csv")));
    }

    @Test
    void read_noText_namesTheColumns() throws IOException {
        Path bytes =
                Files.write(folder.resolve("bytes.csv"), new byte[] {(byte) 0xff, (byte) 0xfe});
        for (Executable reads :
                List.<Executable>of(
                        () -> CsvFiles.readRecords(bytes), () -> CsvFiles.readPlan(bytes))) {
            String message = assertThrows(IllegalArgumentException.class, reads).getMessage();
            assertTrue(
                    message.contains("not a text file with the columns id,lower,upper,size"),
                    message);
        }
    }

    @Property(tries = 50)
    void plan_writtenAndRead_isEqual(@ForAll("problems") PlanningProblem problem)
            throws IOException {
        OffsetPlan plan = Greedy.BY_SIZE.plan(problem);
        Map<Integer, String> names = new HashMap<>();
        problem.records().forEach(r -> names.put(r.tensor(), "tensor/" + r.tensor()));
        CsvPlan written = CsvPlan.of(plan, names);
        Path file = Files.createTempFile("plan", ".csv");
        try {
            Files.writeString(file, written.text());
            CsvPlan read = CsvFiles.readPlan(file);
            assertEquals(problem.records(), read.problem().records());
            assertEquals(problem.units(), read.problem().units());
            assertEquals(written.offsets(), read.offsets());
            assertEquals(written.ids(), read.ids());
            assertEquals(plan.totalBytes(), read.totalBytes());
        } finally {
            Files.delete(file);
        }
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
