// The body of a long table. Groups of rows far from the visible part are replaced by an empty row of the same height, so that a table
// of 1 000 rows scrolls smoothly.

import { html, useEffect, useRef, useState } from "../app/preact.js";

/** The number of rows that are rendered or left out together. */
const GROUP_SIZE = 50;

/** The assumed height of a row that was not rendered yet, and the distance from the window within which rows are rendered. */
const ROW_HEIGHT = 34;
const MARGIN = "900px";

/** Whether rows are left out. Column widths must not depend on the rows then: see `table.long`. */
export const isLong = (items) => items.length > 2 * GROUP_SIZE;

export function Rows({ items, show }) {
  if (!isLong(items)) return html`<tbody>${items.map(show)}</tbody>`;
  const starts = Array.from({ length: Math.ceil(items.length / GROUP_SIZE) }, (_, nth) => nth * GROUP_SIZE);
  return starts.map((start) =>
    html`<${RowGroup} key=${start} items=${items.slice(start, start + GROUP_SIZE)} show=${show} isFirst=${start === 0} />`);
}

function RowGroup({ items, show, isFirst }) {
  const body = useRef();
  const height = useRef(items.length * ROW_HEIGHT);
  const [isNear, setNear] = useState(isFirst);
  useEffect(() => {
    const observer = new IntersectionObserver(([{ isIntersecting, boundingClientRect }]) => {
      if (!isIntersecting && boundingClientRect.height > 0) height.current = boundingClientRect.height;
      setNear(isIntersecting);
    }, { rootMargin: `${MARGIN} 0px` });
    observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  return html`<tbody ref=${body}>${isNear ? items.map(show) : html`<tr aria-hidden="true"><td colspan="9" style=${{ height: `${height.current}px` }}></td></tr>`}</tbody>`;
}
