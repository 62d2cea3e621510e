package org.djlplan.delegation.internal;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.time.Duration;
import org.djlplan.memplan.testing.HouseRules;

/** Checks that each package has one job and that packages depend on each other in one direction. */
@AnalyzeClasses(
        packages = "org.djlplan.delegation.internal",
        importOptions = {ImportOption.DoNotIncludeTests.class, ImportOption.DoNotIncludeJars.class})
class ArchitectureTest {

    private static final String ROOT = "org.djlplan.delegation.internal";
    private static final String MEMPLAN = "org.djlplan.memplan";

    @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class);

    @ArchTest
    static final ArchRule arrows =
            layeredArchitecture()
                    .consideringOnlyDependenciesInAnyPackage(ROOT + "..")
                    .layer("root")
                    .definedBy(ROOT)
                    .layer("profile")
                    .definedBy(ROOT + ".profile..")
                    .layer("choice")
                    .definedBy(ROOT + ".choice..")
                    .whereLayer("root")
                    .mayNotBeAccessedByAnyLayer()
                    .whereLayer("profile")
                    .mayOnlyBeAccessedByLayers("root")
                    .whereLayer("choice")
                    .mayOnlyBeAccessedByLayers("root", "profile");

    @ArchTest
    static final ArchRule choosingIsPure =
            classes()
                    .that()
                    .resideInAPackage(ROOT + ".choice..")
                    .should()
                    .onlyDependOnClassesThat(
                            resideInAnyPackage(
                                            "java.lang..",
                                            "java.util..",
                                            "org.djlplan.thirdparty.guava..",
                                            "com.google.errorprone..",
                                            ROOT + ".choice..",
                                            MEMPLAN + ".internal.table..",
                                            MEMPLAN + ".graph..",
                                            MEMPLAN + ".report..",
                                            MEMPLAN + ".spi..")
                                    .or(belongToAnyOf(Duration.class, IOException.class)));

    /** djl-memplan plans and runs models; delegation calls it through its SPI only. */
    @ArchTest
    static final ArchRule nothingKnowsHowModelsRun =
            classes()
                    .that()
                    .resideInAPackage(ROOT + "..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java..",
                            "org.djlplan.thirdparty.guava..",
                            "com.google.errorprone..",
                            "org.slf4j..",
                            "ai.djl.util..",
                            ROOT + "..",
                            MEMPLAN + ".internal.config..",
                            MEMPLAN + ".graph..",
                            MEMPLAN + ".internal.machine..",
                            MEMPLAN + ".report..",
                            MEMPLAN + ".spi..",
                            MEMPLAN + ".internal.store..",
                            MEMPLAN + ".internal.table..",
                            MEMPLAN + ".internal.thread..");

    @ArchTest
    static final ArchRule noCycles = slices().matching(ROOT + ".(*)..").should().beFreeOfCycles();
}
