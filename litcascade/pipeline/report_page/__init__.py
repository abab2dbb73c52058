"""The report of a review as a page: queries on the store here, what is drawn and written in `report`."""
