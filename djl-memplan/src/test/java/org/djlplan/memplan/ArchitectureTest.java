package org.djlplan.memplan;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.djlplan.memplan.engine.TfLiteEngineModel;

/** Holds the packages to their one job and the arrows between them to one direction. */
@AnalyzeClasses(
        packages = {"org.djlplan", "ai.djl.tflite.engine"},
        importOptions = {ImportOption.DoNotIncludeTests.class, ImportOption.DoNotIncludeJars.class})
class ArchitectureTest {

    private static final String ROOT = "org.djlplan.memplan";

    @ArchTest
    static final ArchRule arrows =
            layeredArchitecture()
                    .consideringOnlyDependenciesInAnyPackage("org.djlplan..")
                    .layer("facade")
                    .definedBy(ROOT)
                    .layer("rows")
                    .definedBy(ROOT + ".rows..")
                    .layer("metrics")
                    .definedBy(ROOT + ".metrics..")
                    .layer("events")
                    .definedBy(ROOT + ".events..")
                    .layer("djl")
                    .definedBy(ROOT + ".djl..")
                    .layer("cli")
                    .definedBy(ROOT + ".cli..")
                    .layer("study")
                    .definedBy(ROOT + ".study..")
                    .layer("measure")
                    .definedBy(ROOT + ".measure..")
                    .layer("child")
                    .definedBy(ROOT + ".child..")
                    .layer("engine")
                    .definedBy(ROOT + ".engine..")
                    .layer("serving")
                    .definedBy(ROOT + ".serving..")
                    .layer("candidates")
                    .definedBy(ROOT + ".candidates..")
                    .layer("planning")
                    .definedBy(ROOT + ".planning..")
                    .layer("runtime")
                    .definedBy(ROOT + ".runtime..")
                    .layer("store")
                    .definedBy(ROOT + ".store..")
                    .layer("source")
                    .definedBy(ROOT + ".source..")
                    .layer("budget")
                    .definedBy(ROOT + ".budget")
                    .layer("formula")
                    .definedBy(ROOT + ".formula..")
                    .layer("slicing")
                    .definedBy(ROOT + ".slicing..")
                    .layer("plan")
                    .definedBy(ROOT + ".plan..")
                    .layer("usage")
                    .definedBy(ROOT + ".usage..")
                    .layer("graph")
                    .definedBy(ROOT + ".graph..")
                    .layer("spi")
                    .definedBy(ROOT + ".spi..")
                    .layer("config")
                    .definedBy(ROOT + ".config..")
                    .layer("report")
                    .definedBy(ROOT + ".report..")
                    .whereLayer("cli")
                    .mayNotBeAccessedByAnyLayer()
                    .whereLayer("study")
                    .mayOnlyBeAccessedByLayers("cli")
                    .whereLayer("rows")
                    .mayOnlyBeAccessedByLayers("metrics")
                    .whereLayer("metrics")
                    .mayNotBeAccessedByAnyLayer()
                    .whereLayer("facade")
                    .mayOnlyBeAccessedByLayers("metrics", "cli")
                    .whereLayer("events")
                    .mayOnlyBeAccessedByLayers("djl", "serving", "runtime")
                    .whereLayer("djl")
                    .mayOnlyBeAccessedByLayers("facade", "rows", "cli")
                    .whereLayer("engine")
                    .mayOnlyBeAccessedByLayers("djl")
                    .whereLayer("serving")
                    .mayOnlyBeAccessedByLayers("djl")
                    .whereLayer("candidates")
                    .mayOnlyBeAccessedByLayers("measure", "serving")
                    .whereLayer("planning")
                    .mayOnlyBeAccessedByLayers("djl", "serving", "measure", "cli")
                    .whereLayer("runtime")
                    .mayOnlyBeAccessedByLayers(
                            "djl", "engine", "serving", "candidates", "measure", "planning", "cli")
                    .whereLayer("measure")
                    .mayOnlyBeAccessedByLayers("djl", "cli")
                    .whereLayer("child")
                    .mayOnlyBeAccessedByLayers("measure", "cli")
                    .whereLayer("store")
                    .mayOnlyBeAccessedByLayers("runtime", "planning", "engine", "djl", "cli")
                    .whereLayer("source")
                    .mayOnlyBeAccessedByLayers(
                            "formula",
                            "slicing",
                            "store",
                            "runtime",
                            "planning",
                            "serving",
                            "candidates",
                            "djl",
                            "engine",
                            "cli")
                    .whereLayer("plan")
                    .mayOnlyBeAccessedByLayers(
                            "store",
                            "runtime",
                            "serving",
                            "candidates",
                            "planning",
                            "source",
                            "djl",
                            "cli",
                            "budget",
                            "study")
                    .whereLayer("formula")
                    .mayOnlyBeAccessedByLayers("store", "runtime", "planning")
                    .whereLayer("usage")
                    .mayOnlyBeAccessedByLayers(
                            "plan", "budget", "formula", "slicing", "store", "runtime", "source",
                            "cli", "study")
                    .whereLayer("config")
                    .mayOnlyBeAccessedByLayers(
                            "facade",
                            "engine",
                            "djl",
                            "plan",
                            "planning",
                            "runtime",
                            "serving",
                            "candidates",
                            "measure",
                            "cli",
                            "report",
                            "spi",
                            "store",
                            "study");

    /** Neither is in the runtime jar. */
    @ArchTest
    static final ArchRule nothingDependsOnCommandsAndStudies =
            noClasses()
                    .that()
                    .resideOutsideOfPackages("org.djlplan.*.cli..", "org.djlplan.*.study..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("org.djlplan.*.cli..", "org.djlplan.*.study..");

    @ArchTest
    static final ArchRule planningIsPure =
            classes()
                    .that()
                    .resideInAnyPackage(
                            ROOT + ".graph..",
                            ROOT + ".usage..",
                            ROOT + ".plan..",
                            ROOT + ".budget",
                            ROOT + ".study.parallel..",
                            ROOT + ".study.shared..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.time..",
                            "java.util..",
                            "com.google.common..",
                            "com.google.errorprone..",
                            ROOT + ".graph..",
                            ROOT + ".usage..",
                            ROOT + ".plan..",
                            ROOT + ".budget",
                            ROOT + ".config..",
                            ROOT + ".study.parallel..",
                            ROOT + ".study.shared..");

    @ArchTest
    static final ArchRule slicingIsPure =
            classes()
                    .that()
                    .resideInAPackage(ROOT + ".slicing..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.nio",
                            "java.util..",
                            "com.google.common..",
                            ROOT + ".graph..",
                            ROOT + ".usage..",
                            ROOT + ".budget",
                            ROOT + ".slicing..",
                            ROOT + ".source.tflite..");

    /** What it is made of are recordings, as types. */
    @ArchTest
    static final ArchRule formulasArePure =
            classes()
                    .that()
                    .resideInAPackage(ROOT + ".formula..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.math",
                            "java.util..",
                            "com.google.common..",
                            ROOT + ".usage..",
                            ROOT + ".formula..",
                            ROOT + ".source.trace..");

    /** What it is to run, and how, comes from above: of planning only finished plans. */
    @ArchTest
    static final ArchRule tfliteRuntimeDecidesNothing =
            noClasses()
                    .that()
                    .resideInAPackage(ROOT + ".runtime.tflite..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            ROOT + ".config..",
                            ROOT + ".store..",
                            ROOT + ".planning..",
                            ROOT + ".report..")
                    .orShould()
                    .dependOnClassesThat()
                    .haveSimpleNameEndingWith("Planner");

    /** The commands drop the system's cache of files, which is no memory of this process. */
    @ArchTest
    static final ArchRule onlyRuntimeTouchesNativeMemory =
            noClasses()
                    .that()
                    .resideOutsideOfPackage(ROOT + ".runtime..")
                    .and()
                    .haveNameNotMatching(".*[.]cli[.]PageCache([$].*)?")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("com.sun.jna..");

    /** But for predictors, which rows go through, and which a model of an engine makes. */
    @ArchTest
    static final ArchRule onlyDjlTouchesModelLoading =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(ROOT, ROOT + ".djl..", ROOT + ".rows", ROOT + ".cli..")
                    .and()
                    .resideInAPackage("org.djlplan..")
                    .and(not(belongToAnyOf(TfLiteEngineModel.class)))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "ai.djl.translate..", "ai.djl.inference..", "ai.djl.repository..");

    @ArchTest
    static final ArchRule onlyPurityReadsBytecode =
            noClasses()
                    .that()
                    .resideOutsideOfPackage(ROOT + ".djl.purity..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("org.objectweb.asm..");

    @ArchTest
    static final ArchRule purityKnowsNothingOfPlanning =
            noClasses()
                    .that()
                    .resideInAPackage(ROOT + ".djl.purity..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            ROOT + ".config..",
                            ROOT + ".store..",
                            ROOT + ".source..",
                            ROOT + ".runtime..",
                            ROOT + ".djl.liveness..");

    @ArchTest
    static final ArchRule engineSubclassKnowsNothingOfUs =
            noClasses()
                    .that()
                    .resideInAPackage("ai.djl.tflite.engine")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("org.djlplan..", "com.google..");

    @ArchTest
    static final ArchRule leavesAreLeaves =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            ROOT + ".graph..",
                            ROOT + ".config..",
                            ROOT + ".machine..",
                            ROOT + ".report..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            ROOT + ".usage..",
                            ROOT + ".plan..",
                            ROOT + ".source..",
                            ROOT + ".runtime..",
                            ROOT + ".djl..",
                            ROOT + ".cli..",
                            ROOT + ".spi..");

    @ArchTest
    static final ArchRule noCycles = slices().matching(ROOT + ".(*)..").should().beFreeOfCycles();
}
