/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the script of a flame graph
 *
 * A click on a box makes the box as wide as the picture, hides the boxes beside
 * it, and gives the boxes below it the whole width.  A click on the lowest box
 * shows all boxes again.
 */
#ifndef UTRACE_BRANCH_FLAME_SCRIPT_H
#define UTRACE_BRANCH_FLAME_SCRIPT_H

static const char flame_script[] =
	"<script><![CDATA[\n"
	"const L = 10, W = 1180, C = 6.65;\n"
	"const all = [...document.querySelectorAll('.b')].map(g => {\n"
	"  const r = g.querySelector('rect'), t = g.querySelector('text');\n"
	"  const n = g.querySelector('title').textContent.split(/ \\(|\\n/)[0];\n"
	"  return {g, r, t, n, x: +r.getAttribute('x'),\n"
	"          w: +r.getAttribute('width'), y: +r.getAttribute('y')};\n"
	"});\n"
	"function zoom(z) {\n"
	"  for (const b of all) {\n"
	"    let x = L + (b.x - z.x) * W / z.w, w = b.w * W / z.w;\n"
	"    if (b.x <= z.x + .01 && b.x + b.w >= z.x + z.w - .01 && b.y >= z.y)\n"
	"      x = L, w = W;\n"
	"    const shown = x >= L - .5 && x + w <= L + W + .5 && w > .3;\n"
	"    b.g.style.display = shown ? '' : 'none';\n"
	"    const room = w > 3 * C ? Math.floor((w - 6) / C) : 0;\n"
	"    b.r.setAttribute('x', x);\n"
	"    b.r.setAttribute('width', w);\n"
	"    b.t.setAttribute('x', x + 3);\n"
	"    b.t.textContent = b.n.length <= room ? b.n :\n"
	"      room >= 3 ? b.n.slice(0, room - 2) + '..' : '';\n"
	"  }\n"
	"}\n"
	"for (const b of all)\n"
	"  b.g.addEventListener('click', () => zoom(b));\n"
	"]]></script>\n";

#endif /* UTRACE_BRANCH_FLAME_SCRIPT_H */
