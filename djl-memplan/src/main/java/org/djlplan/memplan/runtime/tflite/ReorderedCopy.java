package org.djlplan.memplan.runtime.tflite;

import com.google.common.io.ByteSource;
import com.google.common.io.MoreFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.memplan.runtime.MappedFile;
import org.djlplan.memplan.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.source.tflite.OperatorOrderEdit;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteFormatException;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.store.KeptFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A copy of a model's file with its operators in another order. A copy that exists is compared with
 * the model's file, byte by byte but for the offsets that differ, before it is used: neither a
 * damaged one nor one of another model of the same name is ever trusted.
 */
final class ReorderedCopy {

    private static final Logger logger = LoggerFactory.getLogger(ReorderedCopy.class);

    private final Path file;
    private final ByteBuffer original;
    private final TfLiteFile wanted;
    private final OperatorOrderEdit edit;

    /**
     * @param file the model's file
     * @param original its bytes
     * @param model what they say
     * @param order indices of the operators, in the order to execute
     * @throws TfLiteFormatException if the file cannot be put in that order
     */
    ReorderedCopy(Path file, ByteBuffer original, TfLiteFile model, List<Integer> order)
            throws TfLiteFormatException {
        this.file = file;
        this.original = original;
        edit = OperatorOrderEdit.of(original, file.toString(), order);
        wanted = model.withOrder(order);
    }

    /**
     * Returns the copy, which is made if there is none that is intact.
     *
     * @throws IOException if it cannot be made
     */
    Path findOrMake(KeptFile kept) throws IOException, UnsupportedPlatformException {
        for (Path candidate : kept.candidates()) {
            if (isCopy(candidate)) {
                return candidate;
            }
            logger.info("{} is not a copy of {}; to be made anew", candidate, file);
        }
        Path made = kept.replace(content());
        if (!isCopy(made)) {
            throw new IOException(made + " is not what was written");
        }
        return made;
    }

    private ByteSource content() {
        ByteSource all = MoreFiles.asByteSource(file);
        byte[] changed = new byte[edit.bytes().sizeBytes()];
        edit.bytes().buffer().get(changed);
        return ByteSource.concat(
                all.slice(0, edit.offsetBytes()),
                ByteSource.wrap(changed),
                all.slice(edit.endBytes(), Long.MAX_VALUE));
    }

    private boolean isCopy(Path candidate) throws UnsupportedPlatformException {
        try (MappedFile copy = MappedFile.open(candidate)) {
            return hasBytes(copy.bytes())
                    && wanted.equals(TfLiteReader.read(copy.bytes(), candidate.toString()));
        } catch (TfLiteFormatException e) {
            return false;
        } catch (IOException e) {
            logger.debug("{} cannot be read", candidate, e);
            return false;
        }
    }

    private boolean hasBytes(ByteBuffer copy) {
        int begin = (int) edit.offsetBytes();
        int end = (int) edit.endBytes();
        return copy.limit() == original.limit()
                && copy.slice(0, begin).equals(original.slice(0, begin))
                && copy.slice(begin, end - begin).equals(edit.bytes().buffer())
                && copy.slice(end, copy.limit() - end)
                        .equals(original.slice(end, original.limit() - end));
    }
}
