package org.djlplan.memplan.internal.source.torchscript;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.io.ByteStreams;

/**
 * A TorchScript archive, and the slices of its largest layers.
 *
 * @param archive the file
 * @param code new content of the entries with the sliced layers' code, by name
 * @param layers number of sliced layer classes
 */
public record SlicedArchive(Path archive, Map<String, String> code, int layers) {

    /** Changes when the same decisions result in a different file than before. */
    public static final String VERSION = "2";

    private static final String DATA = "/data/";
    private static final String PICKLE = "/data.pkl";
    private static final String CODE = "/code/";
    private static final String DEBUG = ".debug_pkl";

    /** Much more than the code of any model. */
    private static final int MOST_CODE_BYTES = 64 << 20;

    public SlicedArchive {
        code = ImmutableMap.copyOf(code);
    }

    /**
     * Decides how to slice an archive.
     *
     * @param mostBytes layers whose weight is larger are sliced
     * @param sliceBytes approximate weight size of a slice
     * @throws IOException if it cannot be read, or is not in the engine's format
     */
    public static SlicedArchive of(Path archive, long mostBytes, long sliceBytes)
            throws IOException {
        try (ZipFile zip = new ZipFile(archive.toFile())) {
            Map<String, Long> records = new HashMap<>();
            String root = "";
            for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements(); ) {
                ZipEntry entry = all.nextElement();
                String name = entry.getName();
                int data = name.indexOf(DATA);
                if (data >= 0 && data == name.indexOf('/')) {
                    records.put(name.substring(data + DATA.length()), entry.getSize());
                } else if (name.endsWith(PICKLE) && name.indexOf('/') == name.lastIndexOf('/')) {
                    root = name.substring(0, name.length() - PICKLE.length());
                }
            }
            if (records.values().stream().noneMatch(bytes -> bytes > mostBytes)) {
                return new SlicedArchive(archive, Map.of(), 0);
            }
            Map<String, Long> largest =
                    ModulePickle.largestRecords(read(zip, root + PICKLE), records);
            Map<String, String> code = new HashMap<>();
            int layers = 0;
            for (Map.Entry<String, Long> module : largest.entrySet()) {
                if (module.getValue() > mostBytes) {
                    int slices = (int) ((module.getValue() + sliceBytes - 1) / sliceBytes);
                    layers += slice(zip, root, module.getKey(), slices, code) ? 1 : 0;
                }
            }
            return new SlicedArchive(archive, code, layers);
        }
    }

    private static boolean slice(
            ZipFile zip, String root, String qualified, int slices, Map<String, String> code)
            throws IOException {
        int dot = qualified.lastIndexOf('.');
        if (dot < 0) {
            return false;
        }
        String file = root + CODE + qualified.substring(0, dot).replace('.', '/') + ".py";
        if (zip.getEntry(file) == null) {
            return false;
        }
        String before =
                code.containsKey(file)
                        ? code.get(file)
                        : new String(read(zip, file), StandardCharsets.UTF_8);
        String after = LayerSlicer.slice(before, qualified.substring(dot + 1), slices);
        if (after.equals(before)) {
            return false;
        }
        code.put(file, after);
        return true;
    }

    private static byte[] read(ZipFile zip, String name) throws IOException {
        ZipEntry entry = zip.getEntry(name);
        if (entry == null) {
            throw new IOException("an archive without " + name);
        }
        try (InputStream in = zip.getInputStream(entry)) {
            byte[] bytes = in.readNBytes(MOST_CODE_BYTES + 1);
            if (bytes.length > MOST_CODE_BYTES) {
                throw new IOException(name + " is too large");
            }
            return bytes;
        }
    }

    /** Writes the sliced archive: a copy of the archive with other code for sliced layers. */
    public void write(Path to) throws IOException {
        try (ZipFile zip = new ZipFile(archive.toFile());
                OutputStream file = Files.newOutputStream(to);
                ZipOutputStream out = new ZipOutputStream(file)) {
            for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements(); ) {
                ZipEntry entry = all.nextElement();
                String name = entry.getName();
                if (code.containsKey(name)) {
                    byte[] text = code.get(name).getBytes(StandardCharsets.UTF_8);
                    CRC32 checksum = new CRC32();
                    checksum.update(text);
                    out.putNextEntry(stored(name, text.length, checksum.getValue()));
                    out.write(text);
                } else if (!isDebugInfoOfSliced(name)) {
                    out.putNextEntry(stored(name, entry.getSize(), checksum(zip, entry)));
                    try (InputStream in = zip.getInputStream(entry)) {
                        long unused = ByteStreams.copy(in, out);
                    }
                }
            }
        }
    }

    /**
     * If the archive was overwritten in place, the directory's checksum belongs to earlier bytes,
     * which the engine ignores.
     */
    private static long checksum(ZipFile zip, ZipEntry entry) throws IOException {
        try (CheckedInputStream in =
                new CheckedInputStream(zip.getInputStream(entry), new CRC32())) {
            long unused = ByteStreams.exhaust(in);
            return in.getChecksum().getValue();
        }
    }

    private boolean isDebugInfoOfSliced(String name) {
        return name.endsWith(DEBUG)
                && code.containsKey(name.substring(0, name.length() - DEBUG.length()));
    }

    private static ZipEntry stored(String name, long bytes, long checksum) {
        ZipEntry entry = new ZipEntry(name);
        entry.setMethod(ZipEntry.STORED);
        entry.setSize(bytes);
        entry.setCrc(checksum);
        entry.setTime(0);
        return entry;
    }
}
