/** Which calls a fault is for: all of them, unless it says less. */
type FaultLimits = {
	methods?: readonly string[];
	/** Only so many calls from now on. */
	next?: number;
};

/** What goes wrong on request. What is not named goes well again. */
export type SolanaFaults = {
	/** A transaction is accepted, answered with its signature, and never lands. */
	dropSends?: boolean | FaultLimits;
	/** A transaction is accepted, and goes to the next slot only after this long. */
	delaySendMs?: number | (FaultLimits & { ms: number });
	/** The call is executed; instead of an answer the connection breaks. */
	dropAnswers?: boolean | FaultLimits;
	delayAnswersMs?: number | (FaultLimits & { ms: number });
	/** The finalized slot stands still. */
	stallFinality?: boolean;
	/** Transactions are said to be unknown by getSignatureStatuses and getTransaction. */
	lieAboutStatus?: "unknown" | (FaultLimits & { signatures?: readonly string[] });
};

/** The faults of now, counting down those that are for so many calls. */
export function faultState({ onStall }: { onStall: (isStalled: boolean) => void }) {
	let current: SolanaFaults = {};
	let left: Partial<Record<keyof SolanaFaults, number>> = {};

	/** The fault, if it is there and for this call. */
	const take = <Name extends keyof SolanaFaults>(
		name: Name,
		method: string,
	): SolanaFaults[Name] | undefined => {
		const fault = current[name];
		if (fault === undefined || fault === false) return undefined;
		if (typeof fault !== "object") return fault;
		if (fault.methods && !fault.methods.includes(method)) return undefined;
		if (fault.next === undefined) return fault;
		const remaining = left[name] ?? fault.next;
		if (remaining < 1) return undefined;
		left[name] = remaining - 1;
		return fault;
	};
	const msOf = (fault: number | { ms: number } | undefined) =>
		typeof fault === "object" ? fault.ms : (fault ?? 0);

	return {
		set: (faults: SolanaFaults) => {
			current = faults;
			left = {};
			onStall(faults.stallFinality ?? false);
		},
		dropsSend: () => take("dropSends", "sendTransaction") !== undefined,
		sendDelayMs: () => msOf(take("delaySendMs", "sendTransaction")),
		dropsAnswer: (method: string) => take("dropAnswers", method) !== undefined,
		answerDelayMs: (method: string) => msOf(take("delayAnswersMs", method)),
		/** Which of the signatures of a call are to be unknown. */
		lies: (method: string, signatures: readonly string[]): ReadonlySet<string> => {
			const fault = current.lieAboutStatus;
			const named = typeof fault === "object" ? fault.signatures : undefined;
			const affected = signatures.filter((signature) => named?.includes(signature) ?? true);
			return new Set(affected.length > 0 && take("lieAboutStatus", method) ? affected : []);
		},
	};
}

export type Faults = ReturnType<typeof faultState>;
