package org.djlplan.memplan.study.csv;

import com.google.common.collect.ImmutableList;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.study.csv.CsvTable.Row;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;

/** Reads and writes usage records and plans. Files are UTF-8. */
public final class CsvFiles {

    private static final ImmutableList<String> RECORD_COLUMNS =
            ImmutableList.of("id", "lower", "upper", "size");
    private static final String OFFSET = "offset";
    private static final String ALIAS = "alias";

    private CsvFiles() {}

    /**
     * Reads usage records; further columns are ignored.
     *
     * @throws CsvFormatException if the file is not of the format
     * @throws IOException if it cannot be read
     */
    public static CsvRecords readRecords(Path file) throws IOException {
        RecordCollector records = new RecordCollector();
        try (Reader reader = Files.newBufferedReader(file)) {
            new CsvTable(reader, RECORD_COLUMNS).forEach(records::add);
        }
        return records.build();
    }

    /**
     * Reads a plan. Without a column {@code alias} nothing shares a place.
     *
     * @throws CsvFormatException if the file is not of the format
     * @throws IOException if it cannot be read
     */
    public static CsvPlan readPlan(Path file) throws IOException {
        List<String> columns =
                ImmutableList.<String>builder().addAll(RECORD_COLUMNS).add(OFFSET).build();
        RecordCollector records = new RecordCollector();
        List<Long> offsets = new ArrayList<>();
        List<Row> linked = new ArrayList<>();
        try (Reader reader = Files.newBufferedReader(file)) {
            new CsvTable(reader, columns)
                    .forEach(
                            row -> {
                                records.add(row);
                                offsets.add(row.number(OFFSET, Long.MIN_VALUE, Long.MAX_VALUE));
                                row.optionalText(ALIAS).ifPresent(alias -> linked.add(row));
                            });
        }
        CsvRecords read = records.build();
        PlanningProblem problem = new PlanningProblem(read.records(), records.aliasClasses(linked));
        return new CsvPlan(problem, records.byTensor(offsets), read.ids());
    }

    /** Writes a plan; {@code alias} names the tensor that carries its class's unit. */
    public static void writePlan(Path file, CsvPlan plan) throws IOException {
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            writer.write(String.join(",", RECORD_COLUMNS) + "," + OFFSET + "," + ALIAS + "\n");
            for (UsageRecord record : plan.problem().records()) {
                int unit = plan.problem().unitOf(record.tensor());
                String alias = unit == record.tensor() ? "" : plan.ids().get(unit);
                writeRecord(writer, record, plan.ids());
                writer.write("," + plan.offsets().get(record.tensor()) + "," + alias + "\n");
            }
        }
    }

    /** Writes usage records. */
    public static void writeRecords(Path file, CsvRecords records) throws IOException {
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            writer.write(String.join(",", RECORD_COLUMNS) + "\n");
            for (UsageRecord record : records.records()) {
                writeRecord(writer, record, records.ids());
                writer.write("\n");
            }
        }
    }

    private static void writeRecord(Writer writer, UsageRecord record, Map<Integer, String> ids)
            throws IOException {
        long upper = record.last() + 1L;
        writer.write(
                ids.get(record.tensor())
                        + ","
                        + record.first()
                        + ","
                        + upper
                        + ","
                        + record.bytes());
    }
}
