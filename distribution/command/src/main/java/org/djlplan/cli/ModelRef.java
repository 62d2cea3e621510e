package org.djlplan.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.cli.zoo.Networks.Network;
import org.djlplan.memplan.internal.config.Nearest;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** The model as named by a user: a file, one of DJL's own networks, or a block's class. */
sealed interface ModelRef {

    /** Prefix of the name of one of DJL's networks. */
    String ZOO = "zoo:";

    /** Prefix of the name of a block's class. */
    String BLOCK = "block:";

    /**
     * Parses {@code folder/model.pt}, {@code zoo:resnet18} or {@code block:com.example.MyBlock}.
     *
     * @throws IllegalArgumentException if there is no network with that name; the message names the
     *     nearest and lists all
     */
    static ModelRef parse(String text) {
        if (text.startsWith(ZOO)) {
            String name = text.substring(ZOO.length());
            return new OfZoo(
                    Networks.named(name)
                            .orElseThrow(
                                    () ->
                                            new IllegalArgumentException(
                                                    "no network '%s': did you mean %s? There are %s"
                                                            .formatted(
                                                                    name,
                                                                    Nearest.of(
                                                                            name, Networks.names()),
                                                                    String.join(
                                                                            ", ",
                                                                            Networks.names())))));
        }
        return text.startsWith(BLOCK)
                ? new OfClass(text.substring(BLOCK.length()))
                : new OfFile(Path.of(text));
    }

    /** Returns the text that {@link #parse} accepts, valid in any working directory. */
    String text();

    /** Returns the engine that the name suggests. */
    Optional<EngineKind> engine();

    /** Returns the default inputs of a block; empty if they are unknown. */
    default ImmutableList<InputSpec> usualInputs() {
        return ImmutableList.of();
    }

    /**
     * A file.
     *
     * @param file a path that need not exist
     */
    record OfFile(Path file) implements ModelRef {

        /**
         * Returns the file.
         *
         * @throws Failure if it is not a readable file
         */
        Path readable() {
            return readable(file);
        }

        /**
         * Returns a file.
         *
         * @throws Failure if it is not a readable file
         */
        static Path readable(Path file) {
            if (!Files.exists(file)) {
                throw new Failure("there is no such file: " + file);
            }
            if (Files.isDirectory(file)) {
                throw new Failure("a folder, not a file: " + file);
            }
            if (!Files.isRegularFile(file)) {
                throw new Failure("not a regular file: " + file);
            }
            if (!Files.isReadable(file)) {
                throw new Failure("cannot read the file: " + file);
            }
            return file;
        }

        @Override
        public String text() {
            return file.toAbsolutePath().toString();
        }

        @Override
        public Optional<EngineKind> engine() {
            return EngineKind.guess(file);
        }
    }

    /** One of DJL's networks. */
    record OfZoo(Network network) implements ModelRef {

        @Override
        public String text() {
            return ZOO + network.name();
        }

        @Override
        public Optional<EngineKind> engine() {
            return Optional.of(EngineKind.PYTORCH);
        }

        @Override
        public ImmutableList<InputSpec> usualInputs() {
            return network.inputs().stream()
                    .map(input -> new InputSpec(input.getShape(), Optional.of(input.getDataType())))
                    .collect(ImmutableList.toImmutableList());
        }
    }

    /** A class of blocks with a public constructor without parameters. */
    record OfClass(String className) implements ModelRef {

        @Override
        public String text() {
            return BLOCK + className;
        }

        @Override
        public Optional<EngineKind> engine() {
            return Optional.of(EngineKind.PYTORCH);
        }
    }

    /**
     * Returns a user's inputs of a block, completed with its default types.
     *
     * @param given one per input, or none
     * @throws IllegalArgumentException if their number is wrong, or no inputs are known
     */
    default ImmutableList<InputSpec> complete(List<InputSpec> given) {
        ImmutableList<InputSpec> usual = usualInputs();
        if (usual.isEmpty() && given.isEmpty()) {
            throw new IllegalArgumentException(
                    "a PyTorch model does not say its inputs: give --input-shape");
        }
        if (usual.isEmpty() || given.isEmpty()) {
            return given.isEmpty() ? usual : ImmutableList.copyOf(given);
        }
        return InputSpec.reshape(usual, given);
    }
}
