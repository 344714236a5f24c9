/** Limits a fault to some calls. Without limits, it affects all of them. */
type FaultLimits = {
	methods?: readonly string[];
	/** Number of calls, from now on, that are affected. */
	next?: number;
};

/** The faults to inject. A fault that is left out ends. */
export type SolanaFaults = {
	/** A transaction is accepted, its signature is returned, and it never lands. */
	dropSends?: boolean | FaultLimits;
	/** A transaction is accepted, and waits this long before it goes to the next slot. */
	delaySendMs?: number | (FaultLimits & { ms: number });
	/** The call is executed, and then the connection breaks without a response. */
	dropAnswers?: boolean | FaultLimits;
	delayAnswersMs?: number | (FaultLimits & { ms: number });
	/** The finalized slot stops advancing. */
	stallFinality?: boolean;
	/** getSignatureStatuses and getTransaction report transactions as unknown. */
	lieAboutStatus?: "unknown" | (FaultLimits & { signatures?: readonly string[] });
};

/** Holds the current faults, and counts down those limited to a number of calls. */
export function faultState({ onStall }: { onStall: (isStalled: boolean) => void }) {
	let current: SolanaFaults = {};
	let left: Partial<Record<keyof SolanaFaults, number>> = {};

	/** Returns the fault if it is set and affects this call. */
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
		/** Returns those of a call's signatures to report as unknown. */
		lies: (method: string, signatures: readonly string[]): ReadonlySet<string> => {
			const fault = current.lieAboutStatus;
			const named = typeof fault === "object" ? fault.signatures : undefined;
			const affected = signatures.filter((signature) => named?.includes(signature) ?? true);
			return new Set(affected.length > 0 && take("lieAboutStatus", method) ? affected : []);
		},
	};
}

export type Faults = ReturnType<typeof faultState>;
