package org.djlplan.integration.liveness;

/** On the DJL that everything is compiled against. */
class FirstPassTest extends AbstractFirstPassTest {}
