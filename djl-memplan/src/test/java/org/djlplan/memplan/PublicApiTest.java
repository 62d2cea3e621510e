package org.djlplan.memplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Compares the public API with a committed list, so that every change of it is deliberate. */
class PublicApiTest {

    private static final String ROOT = "org.djlplan.memplan";
    private static final Path LIST = Path.of("../docs/api.txt");
    private static final Pattern OWN = Pattern.compile("|(java|ai[.]djl|org[.]djlplan)([.].*)?");
    private static final Path MADE = Path.of("target/api.txt");

    /** The modifiers on which callers and subclasses depend. */
    private static final List<JavaModifier> MODIFIERS =
            List.of(
                    JavaModifier.PROTECTED,
                    JavaModifier.STATIC,
                    JavaModifier.ABSTRACT,
                    JavaModifier.FINAL);

    private static final Set<String> IMPLIED =
            Set.of(Object.class.getName(), Record.class.getName(), Enum.class.getName());

    /** Read once, because reading all classes takes seconds. */
    private static final List<JavaClass> API = api();

    private static List<JavaClass> api() {
        return new ClassFileImporter()
                        .withImportOption(new ImportOption.DoNotIncludeTests())
                        .withImportOption(new ImportOption.DoNotIncludeJars())
                        .importPackages(ROOT)
                        .stream()
                        .filter(type -> !type.getPackageName().contains(".internal"))
                        .filter(PublicApiTest::isVisible)
                        .sorted((a, b) -> a.getName().compareTo(b.getName()))
                        .toList();
    }

    @Test
    void signatures_equalTheCommittedList() throws IOException {
        StringBuilder text = new StringBuilder();
        for (JavaClass type : API) {
            text.append(declaration(type)).append('\n');
            signatures(type).forEach(line -> text.append("    ").append(line).append('\n'));
        }
        Files.createDirectories(MADE.getParent());
        Files.writeString(MADE, text);
        assertTrue(API.size() > 30, "only " + API.size() + " types were found");
        assertEquals(
                Files.exists(LIST) ? Files.readString(LIST) : "",
                text.toString(),
                "the API changed; if that is intended, copy djl-memplan/" + MADE + " to docs");
    }

    /** Callers' tools then know that a type without an annotation is never null. */
    @Test
    void packages_ofTheApi_areNullMarked() {
        List<String> unmarked =
                API.stream()
                        .filter(type -> !type.getPackage().isAnnotatedWith(NullMarked.class))
                        .map(JavaClass::getName)
                        .toList();
        assertEquals(List.of(), unmarked);
    }

    /** A library that djl-plan uses can change its types, or have another package name. */
    @Test
    void signatures_ofTheApi_nameNoTypesOfLibrariesBesideDjl() {
        List<String> others =
                API.stream()
                        .flatMap(type -> type.getCodeUnits().stream())
                        .filter(unit -> isVisible(unit.getModifiers()))
                        .flatMap(PublicApiTest::types)
                        .map(JavaClass::getPackageName)
                        .filter(name -> !OWN.matcher(name).matches())
                        .distinct()
                        .toList();
        assertEquals(List.of("io.micrometer.core.instrument"), others);
    }

    private static Stream<JavaClass> types(JavaCodeUnit unit) {
        return Stream.of(
                        List.of(unit.getReturnType()),
                        unit.getParameterTypes(),
                        unit.getExceptionTypes())
                .flatMap(List::stream)
                .flatMap(type -> type.getAllInvolvedRawTypes().stream())
                .map(JavaClass::getBaseComponentType);
    }

    /** Also states the order of components, which constructors with equal types do not show. */
    private static String declaration(JavaClass type) {
        String components =
                type.isRecord()
                        ? Stream.of(type.reflect().getRecordComponents())
                                .map(RecordComponent::getName)
                                .collect(Collectors.joining(", ", "(", ")"))
                        : "";
        String supertypes =
                Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream())
                        .filter(each -> !IMPLIED.contains(each.toErasure().getName()))
                        .map(JavaType::getName)
                        .sorted()
                        .collect(Collectors.joining(", "));
        return modifiers(type.getModifiers())
                + type.getName()
                + components
                + (supertypes.isEmpty() ? "" : " extends " + supertypes);
    }

    private static Set<String> signatures(JavaClass type) {
        Set<String> lines = new TreeSet<>();
        for (JavaMember member : type.getMembers()) {
            if (!isVisible(member.getModifiers())
                    || member.getModifiers().contains(JavaModifier.SYNTHETIC)) {
                continue;
            }
            if (member instanceof JavaCodeUnit unit) {
                lines.add(
                        modifiers(unit.getModifiers())
                                + unit.getName()
                                + unit.getParameterTypes().stream()
                                        .map(JavaType::getName)
                                        .collect(Collectors.joining(", ", "(", ")"))
                                + ": "
                                + unit.getReturnType().getName()
                                + unit.getExceptionTypes().stream()
                                        .map(each -> " throws " + each.getName())
                                        .collect(Collectors.joining()));
            } else if (member instanceof JavaField field) {
                lines.add(
                        modifiers(field.getModifiers())
                                + field.getName()
                                + ": "
                                + field.getType().getName());
            }
        }
        return lines;
    }

    private static String modifiers(Set<JavaModifier> modifiers) {
        return MODIFIERS.stream()
                .filter(modifiers::contains)
                .map(each -> each.name().toLowerCase(Locale.ROOT) + " ")
                .collect(Collectors.joining());
    }

    private static boolean isVisible(JavaClass type) {
        Optional<JavaClass> owner = type.getEnclosingClass();
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && (owner.isEmpty() || isVisible(owner.get()));
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC)
                || modifiers.contains(JavaModifier.PROTECTED);
    }
}
