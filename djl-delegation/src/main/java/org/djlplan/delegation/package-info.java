/** Which operators of a model go to the engine's delegate. */
package org.djlplan.delegation;
