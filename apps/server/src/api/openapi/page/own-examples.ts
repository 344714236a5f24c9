import { exampleIntent } from "../examples/example-swap.ts";

/** Two assets on two chains that a service offers. */
export type OwnExample = Record<"origin" | "destination", { chainId: number; token: string }>;

/**
 * Puts the service's own chains and tokens into the commands of a page, so that the commands which need no token from
 * an earlier step answer 200 unchanged.
 */
export function withOwnExamples(html: string, { origin, destination }: OwnExample): string {
	return html.replaceAll(/<code>curl .*?<\/code>/gs, (command) =>
		command
			.replaceAll(new RegExp(`\\b${exampleIntent.originChain}\\b`, "g"), String(origin.chainId))
			.replaceAll(
				new RegExp(`(destinationChain\\D{1,12})${exampleIntent.destinationChain}\\b`, "g"),
				`$1${destination.chainId}`,
			)
			.replaceAll(exampleIntent.inputToken, origin.token)
			.replaceAll(exampleIntent.outputToken, destination.token),
	);
}
