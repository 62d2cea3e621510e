/**
 * Offset strategies of the strip-packing family. Time is the fixed axis of a strip, the arena's
 * offsets are its height, and units are rectangles that can be moved up and down only:
 *
 * <pre>
 *   offset
 *     |       +------+       the skyline is the upper edge of all that is placed;
 *     |  +----+  c   |---+   a new unit is stacked upon it and never slips into
 *     |  | a  +------+ d |   a gap below
 *     |  +----|  b   |---+
 *     +-------+------+-------&gt; operators
 * </pre>
 */
package org.djlplan.study.strippacking;
