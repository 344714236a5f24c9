import { getQuote } from "./get-quote.ts";
import { getStatus } from "./get-status.ts";
import {
	codeForModel,
	type ModelSwapInput,
	type ModelSwapOptions,
	namedTerms,
	swapForModel,
	swapProperties,
} from "./swap-for-model.ts";
import type { SwapRequest } from "./swap-request.ts";

/** The part of a wallet provider that is used. AgentKit's EVM providers have `toSigner`. */
export type AgentkitWallet = { getAddress(): string; toSigner?(): SwapRequest["signer"] };

type Described = { describe(text: string): unknown };

/** The part of zod that is used. Pass the zod that your AgentKit uses, because frameworks read its schemas. */
export type AgentkitZod = {
	// biome-ignore lint/suspicious/noExplicitAny: the types of zod's versions differ, and each fits the AgentKit that it is with.
	object(shape: any): { strict(): any };
	string(): { regex(pattern: RegExp): Described };
	number(): { int(): { positive(): Described } };
};

/** The arguments of `geoswap_swap`. */
export type AgentkitSwapInput = ModelSwapInput & {
	/** Identifies the purpose. All calls with the same id are one swap. */
	id: string;
};

export type AgentkitOptions<Zod extends AgentkitZod> = ModelSwapOptions & {
	z: Zod;
	/** Returns the wallet that signs. The default is the provider's `toSigner()`. */
	signerOf?: (wallet: AgentkitWallet) => SwapRequest["signer"] | Promise<SwapRequest["signer"]>;
	/** Called before each signature with the complete terms. If it throws, nothing is signed. */
	beforeSign?: (input: AgentkitSwapInput) => void | Promise<void>;
};

/**
 * Returns an action provider, `AgentKit.from({ walletProvider, actionProviders: [geoswapActions(…)] })`, that quotes,
 * swaps within a budget and follows swaps. AgentKit requests no approval before an action, so the budget and
 * `beforeSign` are the only limits.
 */
export function geoswapActions<Zod extends AgentkitZod>({
	z,
	signerOf,
	beforeSign,
	...options
}: AgentkitOptions<Zod>) {
	const { client } = options;
	const { minOutput, ...asked } = shapeOfTerms(z);
	const makeAction = actionsOf(z);
	return {
		name: "geoswap",
		actionProviders: [],
		supportsNetwork: ({ protocolFamily }: { protocolFamily: string }) =>
			protocolFamily === "evm" || signerOf !== undefined,
		getActions: (wallet: AgentkitWallet) => [
			makeAction("geoswap_quote", {
				description: "Returns what a swap would give now. Signs nothing.",
				shape: asked,
				act: async (input: Omit<ModelSwapInput, "minOutput">) => {
					const amount = BigInt(input.amount);
					const terms = { ...namedTerms(input), amount, walletAddress: wallet.getAddress() };
					const { output, minOutput } = await getQuote(client, terms);
					return { output: String(output), minOutput: String(minOutput) };
				},
			}),
			makeAction("geoswap_swap", {
				description:
					"Gives tokens of the user's wallet for others, on the same chain or another, within a budget. If the status is unknown or submitted, never start another swap for the same purpose: follow it.",
				shape: {
					...asked,
					minOutput,
					id: z
						.string()
						.regex(/^[\w.:-]{1,64}$/)
						.describe(
							"A name for the purpose. Repeat a call with the same id, and use a new id for a new purpose.",
						),
				},
				act: async (given: AgentkitSwapInput) => {
					const { id, ...input } = given;
					const swapped = await swapForModel(options, {
						id: JSON.stringify(["agentkit", id]),
						input,
						signer: await (signerOf ?? ownSigner)(wallet),
						beforeSign: () => beforeSign?.(given),
					});
					// The model repeats the call with its own id.
					return { ...swapped, id };
				},
			}),
			makeAction("geoswap_status", {
				description: "Returns whether a swap is pending, settled, failed or refunded.",
				shape: {
					swapId: z
						.string()
						.regex(/^swp_\w{1,40}$/)
						.describe("The swapId that geoswap_swap returned."),
				},
				act: async ({ swapId }: { swapId: string }) => {
					const { status, stage } = await getStatus(client, swapId);
					return { swapId, status, stage };
				},
			}),
		],
	};
}

function ownSigner(wallet: AgentkitWallet): SwapRequest["signer"] {
	if (!wallet.toSigner) throw new TypeError("this wallet provider has no toSigner(); pass signerOf");
	return wallet.toSigner();
}

function shapeOfTerms(z: AgentkitZod): Record<keyof typeof swapProperties, unknown> {
	const fields = Object.entries(swapProperties).map(([name, property]) => {
		const type =
			property.type === "integer"
				? z.number().int().positive()
				: z.string().regex(new RegExp("pattern" in property ? property.pattern : "^.{1,100}$"));
		return [name, type.describe(property.description)];
	});
	return Object.fromEntries(fields);
}

/** An action's result is a text. A failure is the code alone, since the message may hold texts of the service. */
function actionsOf<Zod extends AgentkitZod>(z: Zod) {
	return <Input>(
		name: string,
		{
			description,
			shape,
			act,
		}: { description: string; shape: Record<string, unknown>; act: (input: Input) => Promise<object> },
	) => {
		const schema: ReturnType<ReturnType<Zod["object"]>["strict"]> = z.object(shape).strict();
		const invoke = async (given: unknown): Promise<string> => {
			// Some frameworks do not validate the arguments against the schema.
			const parsed = schema.safeParse(given);
			if (!parsed.success) return JSON.stringify({ code: "INVALID_REQUEST" });
			const result = await act(parsed.data).catch((error: unknown) => ({ code: codeForModel(error) }));
			return JSON.stringify(result);
		};
		return { name, description, schema, invoke };
	};
}
