// The body of a table that may be long. Rows far from what is seen are left out and their height is kept, so that a thousand scroll
// smoothly.

import { html, useEffect, useRef, useState } from "../app/preact.js";

/** So many rows are shown or left out together. */
const TOGETHER = 50;

/** The height of a row that was not shown yet, and how far from the window rows are shown. */
const ROW = 34;
const MARGIN = "900px";

/** Whether rows are left out. The widths of columns must not depend on the rows then: see `table.long`. */
export const isLong = (items) => items.length > 2 * TOGETHER;

export function Rows({ items, show }) {
  if (!isLong(items)) return html`<tbody>${items.map(show)}</tbody>`;
  const starts = Array.from({ length: Math.ceil(items.length / TOGETHER) }, (_, nth) => nth * TOGETHER);
  return starts.map((start) => html`<${Stretch} key=${start} items=${items.slice(start, start + TOGETHER)} show=${show} isFirst=${start === 0} />`);
}

function Stretch({ items, show, isFirst }) {
  const body = useRef();
  const height = useRef(items.length * ROW);
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
