package org.djlplan.memplan;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.core.domain.properties.HasModifiers.Predicates.modifier;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.engine.TfLiteEngineModel;
import org.djlplan.memplan.testing.HouseRules;

/** Checks that each package has one job and that packages depend on each other in one direction. */
@AnalyzeClasses(
        packages = {"org.djlplan.memplan", "ai.djl.tflite.engine"},
        importOptions = {ImportOption.DoNotIncludeTests.class, ImportOption.DoNotIncludeJars.class})
class ArchitectureTest {

    private static final String ROOT = "org.djlplan.memplan";
    private static final String INTERNAL = ROOT + ".internal";

    @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class);

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
                    .definedBy(INTERNAL + ".events..")
                    .layer("djl")
                    .definedBy(INTERNAL + ".djl..")
                    .layer("measure")
                    .definedBy(INTERNAL + ".measure..")
                    .layer("child")
                    .definedBy(INTERNAL + ".child..")
                    .layer("engine")
                    .definedBy(INTERNAL + ".engine..")
                    .layer("serving")
                    .definedBy(INTERNAL + ".serving..")
                    .layer("gate")
                    .definedBy(INTERNAL + ".gate..")
                    .layer("rewrite")
                    .definedBy(INTERNAL + ".rewrite..")
                    .layer("candidates")
                    .definedBy(INTERNAL + ".candidates..")
                    .layer("planning")
                    .definedBy(INTERNAL + ".planning..")
                    .layer("runtime")
                    .definedBy(INTERNAL + ".runtime..")
                    .layer("store")
                    .definedBy(INTERNAL + ".store..")
                    .layer("json")
                    .definedBy(INTERNAL + ".json..")
                    .layer("table")
                    .definedBy(INTERNAL + ".table..")
                    .layer("source")
                    .definedBy(INTERNAL + ".source..")
                    .layer("budget")
                    .definedBy(INTERNAL + ".budget")
                    .layer("slicing")
                    .definedBy(INTERNAL + ".slicing..")
                    .layer("plan")
                    .definedBy(INTERNAL + ".plan..")
                    .layer("usage")
                    .definedBy(INTERNAL + ".usage..")
                    .layer("graph")
                    .definedBy(ROOT + ".graph..")
                    .layer("spi")
                    .definedBy(ROOT + ".spi..")
                    .layer("config")
                    .definedBy(INTERNAL + ".config..")
                    .layer("report")
                    .definedBy(ROOT + ".report..", INTERNAL + ".report..")
                    .layer("errors")
                    .definedBy(ROOT + ".errors..")
                    .whereLayer("errors")
                    .mayNotAccessAnyLayer()
                    .whereLayer("json")
                    .mayOnlyBeAccessedByLayers("store", "measure", "report")
                    .whereLayer("rows")
                    .mayOnlyBeAccessedByLayers("metrics")
                    .whereLayer("metrics")
                    .mayNotBeAccessedByAnyLayer()
                    .whereLayer("facade")
                    .mayOnlyBeAccessedByLayers("metrics")
                    .whereLayer("events")
                    .mayOnlyBeAccessedByLayers("djl", "serving", "gate", "runtime")
                    .whereLayer("djl")
                    .mayOnlyBeAccessedByLayers("facade", "rows")
                    .whereLayer("engine")
                    .mayOnlyBeAccessedByLayers("djl")
                    .whereLayer("serving")
                    .mayOnlyBeAccessedByLayers("djl")
                    .whereLayer("gate")
                    .mayOnlyBeAccessedByLayers("djl", "serving")
                    .whereLayer("candidates")
                    .mayOnlyBeAccessedByLayers("measure", "rewrite", "serving")
                    .whereLayer("rewrite")
                    .mayOnlyBeAccessedByLayers("djl", "measure")
                    .whereLayer("planning")
                    .mayOnlyBeAccessedByLayers("djl", "serving", "measure")
                    .whereLayer("runtime")
                    .mayOnlyBeAccessedByLayers(
                            "djl",
                            "engine",
                            "serving",
                            "gate",
                            "rewrite",
                            "candidates",
                            "measure",
                            "planning")
                    .whereLayer("measure")
                    .mayOnlyBeAccessedByLayers("djl")
                    .whereLayer("child")
                    .mayOnlyBeAccessedByLayers("measure")
                    .whereLayer("store")
                    .mayOnlyBeAccessedByLayers("runtime", "planning", "engine", "djl", "rewrite")
                    .whereLayer("table")
                    .mayOnlyBeAccessedByLayers("planning", "serving")
                    .whereLayer("source")
                    .mayOnlyBeAccessedByLayers(
                            "slicing",
                            "store",
                            "runtime",
                            "planning",
                            "serving",
                            "candidates",
                            "djl",
                            "engine")
                    .whereLayer("plan")
                    .mayOnlyBeAccessedByLayers(
                            "store",
                            "runtime",
                            "serving",
                            "candidates",
                            "planning",
                            "djl",
                            "budget")
                    .whereLayer("usage")
                    .mayOnlyBeAccessedByLayers(
                            "plan", "budget", "slicing", "store", "runtime", "djl")
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
                            "report",
                            "spi",
                            "store");

    @ArchTest
    static final ArchRule planningIsPure =
            classes()
                    .that()
                    .resideInAnyPackage(
                            ROOT + ".graph..",
                            INTERNAL + ".usage..",
                            INTERNAL + ".plan..",
                            INTERNAL + ".budget")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.time..",
                            "java.util..",
                            "org.djlplan.thirdparty.guava..",
                            "com.google.errorprone..",
                            "org.jspecify.annotations",
                            ROOT + ".errors..",
                            ROOT + ".graph..",
                            INTERNAL + ".usage..",
                            INTERNAL + ".plan..",
                            INTERNAL + ".budget",
                            INTERNAL + ".config..");

    @ArchTest
    static final ArchRule tablesArePure =
            classes()
                    .that()
                    .resideInAPackage(INTERNAL + ".table..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.util..",
                            "org.djlplan.thirdparty.guava..",
                            ROOT + ".graph..",
                            ROOT + ".spi..",
                            INTERNAL + ".table..");

    @ArchTest
    static final ArchRule slicingIsPure =
            classes()
                    .that()
                    .resideInAPackage(INTERNAL + ".slicing..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.nio",
                            "java.util..",
                            "org.djlplan.thirdparty.guava..",
                            ROOT + ".graph..",
                            INTERNAL + ".usage..",
                            INTERNAL + ".budget",
                            INTERNAL + ".slicing..",
                            INTERNAL + ".source.tflite..");

    /**
     * The packages above decide what runs, and how; from planning this one gets only finished
     * plans.
     */
    @ArchTest
    static final ArchRule tfliteRuntimeDecidesNothing =
            noClasses()
                    .that()
                    .resideInAPackage(INTERNAL + ".runtime.tflite..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            INTERNAL + ".config..",
                            INTERNAL + ".store..",
                            INTERNAL + ".planning..",
                            ROOT + ".report..",
                            INTERNAL + ".report..")
                    .orShould()
                    .dependOnClassesThat()
                    .haveSimpleNameEndingWith("Planner");

    @ArchTest
    static final ArchRule onlyRuntimeTouchesNativeMemory =
            noClasses()
                    .that()
                    .resideOutsideOfPackage(INTERNAL + ".runtime..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("com.sun.jna..");

    /**
     * Exceptions are predictors, through which rows go, and the engine's model, which makes them.
     */
    @ArchTest
    static final ArchRule onlyDjlTouchesModelLoading =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(ROOT, INTERNAL + ".djl..", ROOT + ".rows")
                    .and()
                    .resideInAPackage("org.djlplan..")
                    .and(not(belongToAnyOf(TfLiteEngineModel.class)))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "ai.djl.translate..", "ai.djl.inference..", "ai.djl.repository..");

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
                            ROOT + ".errors..",
                            ROOT + ".graph..",
                            ROOT + ".report..",
                            INTERNAL + ".report..",
                            INTERNAL + ".json..",
                            INTERNAL + ".machine..")
                    .should()
                    .dependOnClassesThat(
                            resideInAPackage("org.djlplan..")
                                    .and(
                                            resideOutsideOfPackages(
                                                    ROOT + ".errors..",
                                                    ROOT + ".graph..",
                                                    ROOT + ".report..",
                                                    INTERNAL + ".report..",
                                                    INTERNAL + ".json..",
                                                    INTERNAL + ".machine..",
                                                    "org.djlplan.thirdparty..")));

    @ArchTest
    static final ArchRule optionsDependOnLeavesAndTheirInterface =
            noClasses()
                    .that()
                    .resideInAPackage(INTERNAL + ".config..")
                    .should()
                    .dependOnClassesThat(
                            resideInAPackage("org.djlplan..")
                                    .and(
                                            resideOutsideOfPackages(
                                                    ROOT + ".errors..",
                                                    ROOT + ".graph..",
                                                    ROOT + ".report..",
                                                    INTERNAL + ".report..",
                                                    ROOT + ".spi..",
                                                    INTERNAL + ".config..",
                                                    INTERNAL + ".machine..",
                                                    "org.djlplan.thirdparty..")));

    /** Applications never need to name a type that may change with the next release. */
    @ArchTest
    static final ArchRule publicSignaturesNameNoInternalType =
            codeUnits()
                    .that()
                    .areDeclaredInClassesThat()
                    .resideOutsideOfPackages(INTERNAL + "..", "ai.djl..")
                    .and()
                    .areDeclaredInClassesThat()
                    .arePublic()
                    .and(modifier(JavaModifier.PUBLIC).or(modifier(JavaModifier.PROTECTED)))
                    .should(
                            new ArchCondition<>("name no internal type") {
                                @Override
                                public void check(JavaCodeUnit unit, ConditionEvents events) {
                                    typesOf(unit)
                                            .filter(t -> t.getName().startsWith(INTERNAL))
                                            .map(t -> unit.getFullName() + " names " + t.getName())
                                            .map(m -> SimpleConditionEvent.violated(unit, m))
                                            .forEach(events::add);
                                }
                            });

    private static Stream<JavaClass> typesOf(JavaCodeUnit unit) {
        return Stream.concat(
                        Stream.of(unit.getReturnType()),
                        Stream.concat(
                                unit.getParameterTypes().stream(),
                                unit.getExceptionTypes().stream()))
                .flatMap(type -> type.getAllInvolvedRawTypes().stream());
    }

    @ArchTest
    static final ArchRule noCycles =
            slices().assignedFrom(
                            new SliceAssignment() {
                                @Override
                                public SliceIdentifier getIdentifierOf(JavaClass type) {
                                    String name = type.getPackageName().replace(INTERNAL, ROOT);
                                    return name.startsWith(ROOT + ".")
                                            ? SliceIdentifier.of(
                                                    name.substring(ROOT.length() + 1)
                                                            .replaceAll("[.].*", ""))
                                            : SliceIdentifier.ignore();
                                }

                                @Override
                                public String getDescription() {
                                    return "packages";
                                }
                            })
                    .should()
                    .beFreeOfCycles();
}
