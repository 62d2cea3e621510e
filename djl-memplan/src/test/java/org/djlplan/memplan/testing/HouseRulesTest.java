package org.djlplan.memplan.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HouseRulesTest {

    @TempDir private Path sources;

    /**
     * A class with twelve fields: the constant does not count, nor does the field that the compiler
     * adds for the outer instance.
     */
    @SuppressWarnings("ClassCanBeStatic")
    class TwelveFields {
        static final int CONSTANT = 1;
        int f1;
        int f2;
        int f3;
        int f4;
        int f5;
        int f6;
        int f7;
        int f8;
        int f9;
        int f10;
        int f11;
        Object f12 = HouseRulesTest.this;
    }

    static final class ThirteenFields {
        int f1;
        int f2;
        int f3;
        int f4;
        int f5;
        int f6;
        int f7;
        int f8;
        int f9;
        int f10;
        int f11;
        int f12;
        int f13;
    }

    private static List<String> violations(ArchRule rule, Class<?> type) {
        JavaClasses classes = new ClassFileImporter().importClasses(type);
        return rule.evaluate(classes).getFailureReport().getDetails();
    }

    @Test
    void fewInstanceFields_twelve_isKept() {
        assertEquals(List.of(), violations(HouseRules.fewInstanceFields, TwelveFields.class));
    }

    @Test
    void fewInstanceFields_thirteen_isViolated() {
        assertEquals(
                List.of(ThirteenFields.class.getName() + " has 13 instance fields"),
                violations(HouseRules.fewInstanceFields, ThirteenFields.class));
    }

    /**
     * Writes a source for a class with this number of imports from the project, and some others.
     */
    private void writeImports(Class<?> type, int imports) throws IOException {
        Path folder = sources.resolve(type.getPackageName().replace('.', '/'));
        Files.createDirectories(folder);
        int half = imports / 2;
        StringBuilder text = new StringBuilder();
        for (String line : Collections.nCopies(half, "import org.djlplan.memplan.A;\n")) {
            text.append(line);
        }
        for (String line :
                Collections.nCopies(imports - half, "import static org.djlplan.memplan.A.b;\n")) {
            text.append(line);
        }
        text.append("import java.util.List;\n");
        text.append("import org.djlplan.thirdparty.guava.collect.Lists;\n");
        Files.writeString(folder.resolve(type.getSimpleName() + ".java"), text);
    }

    @Test
    void fewImports_twentyFive_isKept() throws IOException {
        writeImports(GraphSketch.class, 25);
        assertEquals(List.of(), violations(HouseRules.fewImports(sources), GraphSketch.class));
    }

    @Test
    void fewImports_twentySix_isViolated() throws IOException {
        writeImports(GraphSketch.class, 26);
        assertEquals(
                List.of(GraphSketch.class.getName() + " has 26 imports of the project"),
                violations(HouseRules.fewImports(sources), GraphSketch.class));
    }
}
