package org.djlplan.memplan.internal.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.internal.store.Fingerprints;
import org.djlplan.memplan.internal.store.KeptCopies;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file to run for a signature: interpreters run the first subgraph, so this file has the
 * signature's subgraph first. If the model's file has another subgraph first, a copy with the two
 * swapped is stored in the same folder as measurements. The copy is compared with the model before
 * each use.
 */
final class SignatureFile {

    private static final Logger logger = LoggerFactory.getLogger(SignatureFile.class);

    /** More copies of a model together would exceed their quota. */
    private static final long MOST_COPIES = 32;

    private final Path file;
    private final Path cacheFolder;

    /**
     * @param file of the model
     * @param cacheFolder for a copy that cannot be stored beside it
     */
    SignatureFile(Path file, Path cacheFolder) {
        this.file = file;
        this.cacheFolder = cacheFolder;
    }

    /**
     * Returns the file to run.
     *
     * @param model content of the model's file
     * @param subgraph of the signature
     * @throws IOException if a copy is needed and cannot be made
     */
    Path of(TfLiteFile model, int subgraph) throws IOException {
        if (subgraph == 0) {
            return file;
        }
        TfLiteFile wanted = model.withFirst(subgraph);
        KeptCopies copies =
                new KeptCopies(file, cacheFolder, new Fingerprints(cacheFolder), ".tflite");
        StoreKey key =
                new StoreKey(
                        file.getFileName().toString(),
                        ImmutableMap.of("subgraph", Integer.toString(subgraph)));
        return copies.findOrMake(
                        key,
                        found -> isCopy(found.file(), wanted),
                        MOST_COPIES * Files.size(file),
                        copy -> {
                            logger.info(
                                    "{} gets a copy that begins with subgraph {}", file, subgraph);
                            TfLiteWriter.write(wanted, copy);
                            return OptionalLong.empty();
                        })
                .file();
    }

    private static boolean isCopy(Path candidate, TfLiteFile wanted) {
        try (MappedFile mapping = MappedFile.open(candidate)) {
            boolean same = wanted.equals(TfLiteReader.read(mapping.bytes(), candidate.toString()));
            mapping.releasePages();
            return same;
        } catch (IOException | UnsupportedPlatformException e) {
            logger.debug("{} cannot be read", candidate, e);
            return false;
        }
    }
}
