package org.djlplan.integration.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.djlplan.thirdparty.guava.io.MoreFiles;

/**
 * Lists an executor's tables of measurements by file name and hash, and the marks and partial
 * results of measurements. A measurement in the executor would add an entry.
 */
final class StoredTables implements FlatMapFunction<Iterator<Integer>, String> {

    private static final long serialVersionUID = 1;

    @Override
    public Iterator<String> call(Iterator<Integer> unused) throws IOException {
        Set<String> tables = new TreeSet<>();
        for (Path folder : List.of(Path.of(SparkFiles.getRootDirectory()), Path.of("cache"))) {
            if (Files.exists(folder)) {
                tables.addAll(in(folder));
            }
        }
        return tables.iterator();
    }

    static Set<String> in(Path folder) throws IOException {
        Set<String> tables = new TreeSet<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (name.matches(".*[.](profile|partial|measuring)[.]json")) {
                    tables.add(name + " " + MoreFiles.asByteSource(file).hash(Hashing.sha256()));
                }
            }
        }
        return tables;
    }
}
