package org.djlplan.memplan.internal.lambdas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.thirdparty.asm.ClassReader;
import org.djlplan.thirdparty.asm.ClassWriter;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.tree.ClassNode;
import org.djlplan.thirdparty.asm.tree.InvokeDynamicInsnNode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the build step that gives each lambda a class in a file. */
class LambdaClassesTest {

    private static final Path TOOL = Path.of("src/build/LambdaClasses.java");
    private static final String FACTORY = "java/lang/invoke/LambdaMetafactory";

    @TempDir static Path compiled;

    private static Method tool;

    @TempDir Path folder;

    /** Compiles the tool once. (The build starts it from its source.) */
    @BeforeAll
    static void compile() throws Exception {
        String[] arguments = {
            "-proc:none",
            "-cp",
            location(ClassReader.class).toString(),
            "-d",
            compiled.toString(),
            TOOL.toString()
        };
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments));
        URL[] urls = {compiled.toUri().toURL()};
        Class<?> main =
                new URLClassLoader(urls, LambdaClassesTest.class.getClassLoader())
                        .loadClass("LambdaClasses");
        tool = main.getMethod("main", String[].class);
        tool.setAccessible(true);
    }

    private static Path location(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** Copies the classes of the fixture, and has the tool rewrite them. */
    private void rewrite() throws Exception {
        Path classes = location(LambdaKinds.class);
        Path from = classes.resolve(LambdaKinds.class.getPackageName().replace('.', '/'));
        Path to = Files.createDirectories(folder.resolve(classes.relativize(from)));
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().startsWith("LambdaKinds")) {
                    Files.copy(file, to.resolve(file.getFileName()));
                }
            }
        }
        run();
    }

    private void run() throws Exception {
        tool.invoke(null, (Object) new String[] {folder.toString()});
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    @Test
    void main_lambdasOfAllKinds_doTheSame() throws Exception {
        List<Object> expected = new LambdaKinds().get();
        rewrite();
        assertTrue(
                files().stream().filter(file -> file.toString().contains("$$Lambda")).count() > 20);
        URL[] urls = {folder.toUri().toURL()};
        try (URLClassLoader loader =
                new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
            Object rewritten =
                    loader.loadClass(LambdaKinds.class.getName()).getConstructor().newInstance();
            assertEquals(expected, ((Supplier<?>) rewritten).get());
        }
    }

    @Test
    void main_secondRun_changesNothing() throws Exception {
        rewrite();
        Map<Path, FileTime> before = times();
        run();
        assertEquals(before, times());
    }

    private Map<Path, FileTime> times() throws IOException {
        Map<Path, FileTime> times = new TreeMap<>();
        for (Path file : files()) {
            times.put(file, Files.getLastModifiedTime(file));
        }
        return times;
    }

    /** Replaces a class by one without lambdas, as a compiler may. */
    @Test
    void main_classLostItsLambdas_deletesTheirClasses() throws Exception {
        rewrite();
        Path own =
                files().stream()
                        .filter(file -> file.endsWith("LambdaKinds.class"))
                        .findFirst()
                        .get();
        ClassWriter without = new ClassWriter(0);
        String name = LambdaKinds.class.getName().replace('.', '/');
        without.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, name, null, "java/lang/Object", null);
        Files.write(own, without.toByteArray());
        run();
        assertEquals(
                List.of(),
                files().stream()
                        .filter(file -> file.getFileName().toString().startsWith("LambdaKinds$$"))
                        .toList());
    }

    @Test
    void main_sourceIsGone_deletesItsClasses() throws Exception {
        rewrite();
        for (Path file : files()) {
            if (!file.toString().contains("$$Lambda")) {
                Files.delete(file);
            }
        }
        run();
        assertEquals(List.of(), files());
    }

    /** Checks the classes of this module, which the build has rewritten. */
    @Test
    void classesOfTheModule_haveNoLambdasToMakeAtRunTime() throws Exception {
        Path classes = location(PlannedTranslatorFactory.class);
        try (Stream<Path> all = Files.walk(classes)) {
            for (Path file : all.filter(each -> each.toString().endsWith(".class")).toList()) {
                ClassNode node = new ClassNode();
                new ClassReader(Files.readAllBytes(file)).accept(node, ClassReader.SKIP_DEBUG);
                assertFalse(hasLambda(node), file.toString());
                // ArchUnit ignores methods with this name if it does not find their call sites.
                assertFalse(
                        node.methods.stream().anyMatch(each -> each.name.startsWith("lambda$")),
                        file.toString());
            }
        }
    }

    private static boolean hasLambda(ClassNode node) {
        return node.methods.stream()
                .flatMap(method -> Stream.of(method.instructions.toArray()))
                .anyMatch(
                        each ->
                                each instanceof InvokeDynamicInsnNode call
                                        && call.bsm.getOwner().equals(FACTORY)
                                        && call.bsm.getName().equals("metafactory"));
    }
}
