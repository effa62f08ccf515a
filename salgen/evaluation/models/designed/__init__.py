"""Networks with weights in closed form, whose exact attributions are known."""
