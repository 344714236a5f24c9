import type { ServerResponse } from "node:http";

/** The requests that may be held open. */
export type Holds = {
	/**
	 * Calls `tell` when the caller disconnects or all held requests must end, or immediately if that has already
	 * happened.
	 */
	onGone(response: ServerResponse, tell: () => void): void;
	/** Ends all held requests, and later ones immediately. */
	endAll(): void;
};

/** Creates holds without an AbortSignal each, which is ten times as large. Thousands are held concurrently. */
export function createHolds(): Holds {
	const holds = new Map<ServerResponse, () => void>();
	let isOver = false;
	function forget(this: ServerResponse): void {
		const tell = holds.get(this);
		holds.delete(this);
		// A connection also closes after the answer was sent. In that case the caller did not leave.
		if (!this.writableFinished) tell?.();
	}
	return {
		onGone(response, tell) {
			// A response that is already destroyed emits no second close event.
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
