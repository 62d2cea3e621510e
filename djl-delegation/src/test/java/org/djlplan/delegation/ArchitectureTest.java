package org.djlplan.delegation;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Holds the packages to their one job and the arrows between them to one direction. */
@AnalyzeClasses(
        packages = "org.djlplan.delegation",
        importOptions = {ImportOption.DoNotIncludeTests.class, ImportOption.DoNotIncludeJars.class})
class ArchitectureTest {

    private static final String ROOT = "org.djlplan.delegation";
    private static final String MEMPLAN = "org.djlplan.memplan";

    @ArchTest
    static final ArchRule arrows =
            layeredArchitecture()
                    .consideringOnlyDependenciesInAnyPackage(ROOT + "..")
                    .layer("cli")
                    .definedBy(ROOT + ".cli..")
                    .layer("study")
                    .definedBy(ROOT + ".study..")
                    .layer("root")
                    .definedBy(ROOT)
                    .layer("profile")
                    .definedBy(ROOT + ".profile..")
                    .layer("store")
                    .definedBy(ROOT + ".store..")
                    .layer("choice")
                    .definedBy(ROOT + ".choice..")
                    .layer("partition")
                    .definedBy(ROOT + ".partition..")
                    .layer("table")
                    .definedBy(ROOT + ".table..")
                    .whereLayer("cli")
                    .mayNotBeAccessedByAnyLayer()
                    .whereLayer("study")
                    .mayOnlyBeAccessedByLayers("cli")
                    .whereLayer("root")
                    .mayOnlyBeAccessedByLayers("cli")
                    .whereLayer("profile")
                    .mayOnlyBeAccessedByLayers("root", "cli")
                    .whereLayer("store")
                    .mayOnlyBeAccessedByLayers("root", "cli")
                    .whereLayer("choice")
                    .mayOnlyBeAccessedByLayers("profile")
                    .whereLayer("partition")
                    .mayOnlyBeAccessedByLayers(
                            "root", "profile", "store", "choice", "study", "cli");

    @ArchTest
    static final ArchRule choosingIsPure =
            classes()
                    .that()
                    .resideInAnyPackage(
                            ROOT + ".partition..",
                            ROOT + ".table..",
                            ROOT + ".choice..",
                            ROOT + ".study..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.util..",
                            "com.google.common..",
                            "com.google.errorprone..",
                            ROOT + ".partition..",
                            ROOT + ".table..",
                            ROOT + ".choice..",
                            ROOT + ".study..",
                            MEMPLAN + ".graph..",
                            MEMPLAN + ".spi..");

    /** How models are planned and run is djl-memplan's: it is asked by its SPI. */
    @ArchTest
    static final ArchRule onlyTheCommandLineKnowsHowModelsRun =
            classes()
                    .that()
                    .resideOutsideOfPackage(ROOT + ".cli..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java..",
                            "com.google.common..",
                            "com.google.errorprone..",
                            "com.google.gson.stream..",
                            "org.slf4j..",
                            "ai.djl.util..",
                            ROOT + "..",
                            MEMPLAN + ".config..",
                            MEMPLAN + ".graph..",
                            MEMPLAN + ".machine..",
                            MEMPLAN + ".report..",
                            MEMPLAN + ".spi..",
                            MEMPLAN + ".store..",
                            MEMPLAN + ".thread..");

    @ArchTest
    static final ArchRule noCycles = slices().matching(ROOT + ".(*)..").should().beFreeOfCycles();
}
