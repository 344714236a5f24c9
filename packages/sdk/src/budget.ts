export {
	type Budget,
	type BudgetAsset,
	type BudgetLedger,
	type BudgetLimit,
	type BudgetTerms,
	budgetLimits,
	openLedger,
	type Reservation,
	worstOutput,
} from "./budget-ledger.ts";
export { type BudgetedSwap, swapWithinBudget } from "./swap-within-budget.ts";
