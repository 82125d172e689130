"""Networks: what a neural method trains, and IGSD's student and teacher."""
