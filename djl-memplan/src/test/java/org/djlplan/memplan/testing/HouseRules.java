package org.djlplan.memplan.testing;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.Source;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Rules for the classes of every module, which the module's architecture test includes. */
public final class HouseRules {

    /** A class with more fields has several responsibilities; a record may have many figures. */
    private static final int MOST_FIELDS = 12;

    /** A class that uses more of the project's types does several jobs. */
    private static final int MOST_IMPORTS = 25;

    /** Relative to the module's folder, in which its tests run. */
    private static final Path SOURCES = Path.of("src", "main", "java");

    private static final Pattern IMPORT =
            Pattern.compile("import (static )?org\\.djlplan\\.(?!thirdparty\\.).*");

    @ArchTest
    static final ArchRule fewInstanceFields =
            classes()
                    .that()
                    .resideInAPackage("org.djlplan..")
                    .and()
                    .areNotRecords()
                    .should(haveAtMost(MOST_FIELDS, "instance fields", HouseRules::fields));

    @ArchTest
    static final ArchRule fewImports =
            classes()
                    .that()
                    .resideInAPackage("org.djlplan..")
                    .and()
                    .areTopLevelClasses()
                    .should(
                            haveAtMost(
                                    MOST_IMPORTS, "imports of the project", HouseRules::imports));

    private HouseRules() {}

    private static ArchCondition<JavaClass> haveAtMost(
            int most, String what, ToLongFunction<JavaClass> counter) {
        return new ArchCondition<>("have at most " + most + " " + what) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                long count = counter.applyAsLong(type);
                String message = "%s has %d %s".formatted(type.getName(), count, what);
                events.add(new SimpleConditionEvent(type, count <= most, message));
            }
        };
    }

    /**
     * Returns the number of declared fields, without constants and fields that the compiler adds.
     */
    private static long fields(JavaClass type) {
        return type.getFields().stream()
                .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC))
                .filter(field -> !field.getModifiers().contains(JavaModifier.SYNTHETIC))
                .count();
    }

    private static long imports(JavaClass type) {
        String name = type.getSource().flatMap(Source::getFileName).orElseThrow();
        Path file = SOURCES.resolve(type.getPackageName().replace('.', '/')).resolve(name);
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> IMPORT.matcher(line).matches()).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
