/** What an imperative block was seen to do with its arrays during a prediction. */
package org.djlplan.memplan.source.block;
