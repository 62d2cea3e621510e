/** Checks the documents: their code compiles, and the links and names in them exist. */
package org.djlplan.integration.documents;
