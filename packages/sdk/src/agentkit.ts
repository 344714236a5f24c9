import { type ModelField, minOutputField, optionalFields, swapFields } from "./model-fields.ts";
import { codeForModel, type ReadTool, readTools } from "./read-for-model.ts";
import { type ModelSwapInput, type ModelSwapOptions, swapForModel } from "./swap-for-model.ts";
import type { SwapRequest } from "./swap-request.ts";

/** The part of a wallet provider that is used. AgentKit's EVM providers have `toSigner`. */
export type AgentkitWallet = { getAddress(): string; toSigner?(): SwapRequest["signer"] };

type Described = { describe(text: string): { optional(): unknown } };

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
 * Returns an action provider, `AgentKit.from({ walletProvider, actionProviders: [geoswapActions(…)] })`, that swaps
 * within a budget, and reads quotes, swaps, tokens and balances. AgentKit requests no approval before an action, so the
 * budget and `beforeSign` are the only limits.
 */
export function geoswapActions<Zod extends AgentkitZod>({
	z,
	signerOf,
	beforeSign,
	...options
}: AgentkitOptions<Zod>) {
	const makeAction = actionsOf(z);
	return {
		name: "geoswap",
		actionProviders: [],
		supportsNetwork: ({ protocolFamily }: { protocolFamily: string }) =>
			protocolFamily === "evm" || signerOf !== undefined,
		getActions: (wallet: AgentkitWallet) => [
			makeAction("geoswap_swap", {
				description:
					"Gives tokens of the user's wallet for others, on the same chain or another, within a budget. If the status is unknown or submitted, never start another swap for the same purpose: follow it.",
				shape: {
					...shapeOf(z, { ...swapFields, minOutput: minOutputField }, optionalFields),
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
			...Object.entries(
				readTools({ ...options, walletAddress: () => wallet.getAddress() }) as Record<
					string,
					ReadTool<never>
				>,
			).map(([name, { description, required, optional, act }]) =>
				makeAction(`geoswap_${name}`, { description, shape: shapeOf(z, required, optional), act }),
			),
		],
	};
}

function ownSigner(wallet: AgentkitWallet): SwapRequest["signer"] {
	if (!wallet.toSigner) throw new TypeError("this wallet provider has no toSigner(); pass signerOf");
	return wallet.toSigner();
}

function shapeOf(
	z: AgentkitZod,
	required: Record<string, ModelField>,
	optional: Record<string, ModelField>,
): Record<string, unknown> {
	const fields = Object.entries({ ...required, ...optional }).map(([name, field]) => {
		const type = typeOf(z, field).describe(field.description);
		return [name, name in required ? type : type.optional()];
	});
	return Object.fromEntries(fields);
}

function typeOf(z: AgentkitZod, field: ModelField): Described {
	if (field.type === "integer") return z.number().int().positive();
	if ("pattern" in field) return z.string().regex(new RegExp(field.pattern));
	return z.string().regex("enum" in field ? new RegExp(`^(${field.enum.join("|")})$`) : /^.{1,100}$/);
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
