import type { ServerResponse } from "node:http";

/** Requests that may be held. */
export type Holds = {
	/** Aborted when the caller is gone, or when all must end. */
	signalOf(response: ServerResponse): AbortSignal;
	/** Ends all of them, and those that come later at once. */
	endAll(): void;
};

export function createHolds(): Holds {
	const holds = new Set<AbortController>();
	let isOver = false;
	return {
		signalOf(response) {
			const hold = new AbortController();
			// A caller who left before says so no second time.
			if (isOver || response.destroyed) {
				hold.abort();
				return hold.signal;
			}
			holds.add(hold);
			response.once("close", () => {
				holds.delete(hold);
				// Whoever has the answer is not gone: to abort makes an exception, which costs as much as some answers.
				if (!response.writableFinished) hold.abort();
			});
			return hold.signal;
		},
		endAll() {
			isOver = true;
			for (const hold of holds) hold.abort();
		},
	};
}
