import type { ServerResponse } from "node:http";

/** Requests that may be held. */
export type Holds = {
	/** Calls `tell` when the caller is gone or all must end, and at once where that was before. */
	onGone(response: ServerResponse, tell: () => void): void;
	/** Ends all of them, and those that come later at once. */
	endAll(): void;
};

/** Thousands are held at once: no AbortSignal each, which is ten times as large. */
export function createHolds(): Holds {
	const holds = new Map<ServerResponse, () => void>();
	let isOver = false;
	function forget(this: ServerResponse): void {
		const tell = holds.get(this);
		holds.delete(this);
		// A connection also closes after the answer was sent: then nobody has left.
		if (!this.writableFinished) tell?.();
	}
	return {
		onGone(response, tell) {
			// A caller who left before says so no second time.
			if (isOver || response.destroyed) return tell();
			holds.set(response, tell);
			response.on("close", forget);
		},
		endAll() {
			isOver = true;
			for (const tell of holds.values()) tell();
		},
	};
}
