package org.djlplan.memplan.internal.djl.purity;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.djlplan.thirdparty.guava.hash.Hasher;
import org.djlplan.thirdparty.guava.hash.Hashing;

/** Reads class files for an analysis, and computes a hash of all that it read. */
final class ClassFilesHash {

    /** The hash of each class file, by the name of the class. */
    private final Map<String, String> hashes = new TreeMap<>();

    /** Returns the class file of a class, on which the result depends from now on. */
    Optional<ClassFile> file(Class<?> type) {
        Optional<ClassFile> file = ClassFile.of(type);
        hashes.put(type.getName(), file.map(ClassFile::hash).orElse("?"));
        return file;
    }

    /** Returns the names of the classes whose files were read. */
    Set<String> names() {
        return hashes.keySet();
    }

    /** Returns a hash of all class files that were read. */
    String hash() {
        Hasher hasher = Hashing.sha256().newHasher();
        hashes.forEach(
                (name, hash) ->
                        hasher.putString(name, StandardCharsets.UTF_8)
                                .putString(hash, StandardCharsets.UTF_8));
        return hasher.hash().toString();
    }
}
