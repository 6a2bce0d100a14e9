// SPDX-License-Identifier: MIT
/** Mouse and wheel on the lanes, the ruler and the overview. */

const CLICK_DISTANCE = 4;
const WHEEL_FACTOR = 0.0022;

/** @typedef {import("./app.mjs").App} App */

/**
 * @typedef {object} Drag
 * @property {(event: PointerEvent) => void} move while the button is held
 * @property {(event: PointerEvent, isDrag: boolean) => void} end isDrag: the mouse has moved at all
 */

/**
 * @param {HTMLElement} element
 * @param {(event: PointerEvent) => Drag | null} begin
 */
export function onDrag(element, begin) {
	element.addEventListener("pointerdown", (down) => {
		const drag = down.button === 0 ? begin(down) : null;
		if (!drag)
			return;
		let isDrag = false;
		element.setPointerCapture(down.pointerId);
		const move = (/** @type {PointerEvent} */ event) => {
			isDrag ||= Math.hypot(event.clientX - down.clientX,
				event.clientY - down.clientY) > CLICK_DISTANCE;
			if (isDrag)
				drag.move(event);
		};
		const end = (/** @type {PointerEvent} */ event) => {
			element.removeEventListener("pointermove", move);
			element.removeEventListener("pointerup", end);
			element.removeEventListener("pointercancel", end);
			drag.end(event, isDrag);
		};
		element.addEventListener("pointermove", move);
		element.addEventListener("pointerup", end);
		element.addEventListener("pointercancel", end);
	});
}

/** @param {App} app @param {HTMLCanvasElement} canvas */
export function listenToLanes(app, canvas) {
	onDrag(canvas, (down) => down.shiftKey ? selectRange(app, down) : pan(app, canvas, down));
	canvas.addEventListener("dblclick", () => app.fit());
	canvas.addEventListener("pointermove", (event) => app.hover(event));
	canvas.addEventListener("pointerleave", () => app.hover(null));
	canvas.addEventListener("wheel", (event) => onWheel(app, event), { passive: false });
}

/** @param {App} app @param {WheelEvent} event */
function onWheel(app, event) {
	event.preventDefault();
	const unit = event.deltaMode === 1 ? 18 : 1, { view } = app;
	const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
	if (event.altKey)
		app.scrollBy(event.deltaY * unit);
	else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
		app.setView(view.moved(sideways * unit * view.nsPerPixel, app.bounds));
	else
		app.setView(view.zoomed(Math.exp(event.deltaY * unit * WHEEL_FACTOR), view.time(event.offsetX),
			app.bounds));
}

/** @param {App} app @param {HTMLCanvasElement} canvas @param {PointerEvent} down */
function pan(app, canvas, down) {
	const { view } = app, scroll = app.scroll;
	return {
		move(/** @type {PointerEvent} */ event) {
			canvas.classList.add("panning");
			app.setView(view.moved((down.clientX - event.clientX) * view.nsPerPixel, app.bounds));
			app.scrollTo(scroll + down.clientY - event.clientY);
		},
		end(/** @type {PointerEvent} */ event, /** @type {boolean} */ isDrag) {
			canvas.classList.remove("panning");
			if (!isDrag)
				app.click(event);
		},
	};
}

/** @param {App} app @param {PointerEvent} down */
export function selectRange(app, down) {
	const from = app.view.time(down.offsetX);
	return {
		move(/** @type {PointerEvent} */ event) {
			const to = app.view.time(event.offsetX);
			app.setRange({ start: Math.min(from, to), end: Math.max(from, to) }, false);
		},
		end(/** @type {PointerEvent} */ _, /** @type {boolean} */ isDrag) {
			app.setRange(isDrag ? app.range : null, true);
		},
	};
}

/** @param {App} app @param {HTMLCanvasElement} canvas */
export function listenToRuler(app, canvas) {
	onDrag(canvas, (down) => selectRange(app, down));
	canvas.addEventListener("wheel", (event) => onWheel(app, event), { passive: false });
}

/** A drag chooses what is shown, a click moves it there. @param {App} app @param {HTMLCanvasElement} canvas */
export function listenToMinimap(app, canvas) {
	onDrag(canvas, (down) => {
		const whole = app.minimap.whole(app), from = whole.time(down.offsetX);
		return {
			move(event) {
				const to = whole.time(event.offsetX);
				app.show(Math.min(from, to), Math.max(from, to));
			},
			end(_, isDrag) {
				if (!isDrag)
					app.show(from - app.view.span / 2, from + app.view.span / 2);
			},
		};
	});
	canvas.addEventListener("wheel", (event) => onWheel(app, event), { passive: false });
}
