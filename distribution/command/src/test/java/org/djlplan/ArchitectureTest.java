package org.djlplan;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import org.djlplan.memplan.testing.HouseRules;

/** Checks that each package has one job and that packages depend on each other in one direction. */
@AnalyzeClasses(
        packages = {"org.djlplan.cli", "org.djlplan.study"},
        importOptions = {ImportOption.DoNotIncludeTests.class, ImportOption.DoNotIncludeJars.class})
class ArchitectureTest {

    private static final String STUDY = "org.djlplan.study";

    @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class);

    @ArchTest
    static final ArchRule studiesKnowNoCommand =
            noClasses()
                    .that()
                    .resideInAPackage(STUDY + "..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("org.djlplan.cli..");

    @ArchTest
    static final ArchRule reportsKnowNoCommand =
            noClasses()
                    .that()
                    .resideInAPackage("org.djlplan.cli.report..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("org.djlplan.cli", "picocli..");

    @ArchTest
    static final ArchRule studiedStrategiesArePure =
            classes()
                    .that()
                    .resideInAnyPackage(
                            STUDY + ".parallel..",
                            STUDY + ".search..",
                            STUDY + ".shared..",
                            STUDY + ".strippacking..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.time..",
                            "java.util..",
                            "org.djlplan.thirdparty.guava..",
                            "com.google.errorprone..",
                            STUDY + "..",
                            "org.djlplan.memplan.graph..",
                            "org.djlplan.memplan.internal.budget",
                            "org.djlplan.memplan.internal.config..",
                            "org.djlplan.memplan.internal.plan..",
                            "org.djlplan.memplan.internal.usage..");

    @ArchTest
    static final ArchRule explanationsArePure =
            classes()
                    .that()
                    .resideInAPackage(STUDY + ".delegation..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.util..",
                            "org.djlplan.thirdparty.guava..",
                            "com.google.errorprone..",
                            STUDY + ".delegation..",
                            "org.djlplan.delegation.internal.choice..",
                            "org.djlplan.memplan.graph..",
                            "org.djlplan.memplan.internal.table..",
                            "org.djlplan.memplan.spi..");

    @ArchTest
    static final ArchRule noCycles =
            slices().matching("org.djlplan.(**)").should().beFreeOfCycles();
}
