package org.djlplan.integration.liveness;

/** On the DJL that everything is compiled against. */
class StateTest extends AbstractStateTest {}
