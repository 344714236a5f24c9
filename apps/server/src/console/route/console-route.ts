import type { Content } from "../../api/page/html.ts";
import type { Operator } from "../login/operators.ts";

/** A request after all checks, with parameters as text. */
export type ConsoleRequest = {
	params: Record<string, string>;
	query: Record<string, string>;
	/** The fields of a form, or the members of a JSON object. Empty for a GET. */
	body: Record<string, unknown>;
	/** The caller's address, for the log. */
	address: string;
};

export type OperatorRequest = ConsoleRequest & {
	operator: Operator;
	sessionToken: string;
	formToken: string;
};

/** A page for an operator who is logged in, inside the frame of all pages. */
export type Page = {
	title: string;
	/** The menu entry that is marked. */
	menu: MenuEntry;
	body: Content;
	/** The text of the search box. */
	search?: string;
	status?: number;
};

export type MenuEntry =
	| "/"
	| "/swaps"
	| "/inventory"
	| "/treasury"
	| "/chains"
	| "/profit"
	| "/books"
	| "/keys"
	| "/log";

export type ConsoleAnswer =
	| { kind: "page"; page: Page }
	/** A page without the menu, for visitors who are not logged in. */
	| { kind: "plain"; title: string; body: Content; status?: number; scripts?: readonly string[] }
	| { kind: "redirect"; to: string; session?: SessionChange }
	| { kind: "json"; body: unknown; status?: number; session?: SessionChange }
	/** A file whose content never changes at its address. */
	| { kind: "file"; type: string; content: string };

/** A token to set as the cookie, or null to clear it. */
export type SessionChange = { token: string | null };

/** A route of the console. Every route needs a login unless it is marked public. */
export type ConsoleRoute = { method: "GET" | "POST"; path: string } & (
	| { access: "public"; handle: (request: ConsoleRequest) => Promise<ConsoleAnswer> }
	| { access?: undefined; handle: (request: OperatorRequest) => Promise<ConsoleAnswer> }
);

export function page(page: Page): ConsoleAnswer {
	return { kind: "page", page };
}
