/** What the documents promise: code that compiles, links that lead somewhere, names that exist. */
package org.djlplan.integration.documents;
