/** Why an account counts a refusal. */
export type RefusalReason =
	/** The recipient did not take the output when it was paid. */
	| "recipient_refused"
	/** The recipient's token account was gone, and its rent took the output below its minimum. */
	| "recipient_account_gone";
